"""Takeovers sleep while nothing can happen: nobody can tell them from those that see each step."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.testing.takeover_world import World, plan
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.play.takeover.takeover import Takeover
from rlaif.trainer.settings.takeover import TakeoverSettings

COUNT = 2
RULES = TakeoverSettings(share=0.3, most_steps=4, looks=3, rest_steps=5, patience_steps=12)

ENVS = st.integers(0, COUNT - 1)
PLAYED = st.lists(
    st.one_of(
        st.tuples(st.just("walk"), ENVS, st.integers(1, 2)),
        st.tuples(st.just("read"), ENVS, st.integers(0, 2)),
        st.tuples(st.just("puzzle"), ENVS, st.integers(0, 3)),
        st.tuples(st.just("step"), st.integers(1, 15), st.sets(ENVS, max_size=1)),
        st.tuples(st.just("answer"), st.integers(1, 2), st.sampled_from(["plan", "timeout"])),
    ),
    max_size=40,
)


class Light(Takeover):
    """One that never sleeps."""

    def steps_to_sleep(self, closed: int) -> int:
        """None."""
        return 0


def told(played: list[Any], most_in_flight: int) -> list[Any]:
    """What an assistance did: its questions, its steps, its state, its account."""
    answers: list[str] = []

    def script(question: PlannerQuestion) -> Any:
        return plan(question.env, steps=3) if answers[-1] == "plan" else "timeout"

    world = World(COUNT, script, RULES, most_in_flight=most_in_flight)
    for what, first, second in played:
        if what == "step":
            for _ in range(first):
                world.step()
            world.step(tuple(second))
        elif what == "answer":
            answers.append(second)
            world.planner.answer(first)
        else:
            getattr(world.games[first], what)(second)
    asked = [(each.env, each.mode, each.asked_step) for each in world.planner.asked]
    state = world.assistance.state_dict()
    return [asked, world.by_planner, state, world.assistance.end_fragment()]


@given(PLAYED, st.integers(1, 3))
def test_nobody_can_tell_that_it_slept(played: list[Any], most_in_flight: int):
    slept = told(played, most_in_flight)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rlaif.trainer.play.assistance.Takeover", Light)
        assert told(played, most_in_flight) == slept


@pytest.mark.parametrize(("steps", "asked"), [(2, 0), (3, 1), (4, 1)])
def test_a_text_wakes_it_and_is_asked_about_at_its_third_step(steps: int, asked: int):
    world = World(1, lambda question: "timeout", RULES)
    world.steps(50)
    world.games[0].read()
    world.steps(steps)
    world.games[0].walk()
    world.steps(50)
    assert [each.asked_step for each in world.planner.asked] == [53] * asked


def test_it_is_not_looked_at_while_it_sleeps(monkeypatch: pytest.MonkeyPatch):
    looked: list[int] = []
    after_step = Takeover.after_step

    def seen(self: Takeover, *given: Any, **named: Any) -> bool:
        looked.append(1)
        return after_step(self, *given, **named)

    monkeypatch.setattr(Takeover, "after_step", seen)
    world = World(1, lambda question: "timeout", RULES)
    world.steps(100)
    assert len(looked) == 1
