"""A decision is as many steps of the game as it needs; what it earns is what they earned."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.decisions.catalog import DECISIONS, GO_TO, INTERACT, WALK
from rlaif.game.machine.actions import ACTION_NAMES, Action
from rlaif.game.skills.script import Choice, done
from rlaif.game.starts.waiting import MAX_RESPAWN_STEPS
from rlaif.trainer.play import decisions
from rlaif.trainer.play.assist.guidance import button_of
from rlaif.trainer.play.decisions import DecisionStep
from rlaif.trainer.play.game_env import StepOutcome

GAMMA = 0.97
NOTHING = np.zeros(0, dtype=np.float32)


class Game:
    """Plays outcomes that a test wrote down: (reward, frames waited), then dead or not."""

    def __init__(self) -> None:
        self.frames = 0
        self.square_facts = SimpleNamespace(dead=False)
        self.ram = None

    def play(
        self,
        reward: float = 0.0,
        wait: int = 0,
        *,
        dead: bool = False,
        terminated: bool = False,
        truncated: bool = False,
    ) -> StepOutcome:
        self.frames += 4 + wait
        self.square_facts.dead = dead
        return StepOutcome(reward, NOTHING, terminated, truncated, wait)


class Presses:
    """An option that presses these buttons."""

    def __init__(self, *buttons: Action) -> None:
        self._left = list(buttons)

    def next(self, ram: Any) -> Choice:
        return Choice("running", self._left.pop(0)) if self._left else done()


def deciding(*buttons: Action, gamma: float = GAMMA) -> tuple[DecisionStep, Game]:
    """A decision that presses these, and its game."""
    game: Any = Game()
    step = DecisionStep(game, gamma=gamma)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decisions, "carry_out", lambda *_, **__: Presses(*buttons))
        step.begin(WALK.start)
    return step, game


def pressed(step: DecisionStep, game: Game, **outcome: Any) -> Iterator[int]:
    while (button := step.button()) is not None:
        yield button
        step.note(game.play(**outcome))


def test_a_decision_that_is_over_at_once_still_takes_a_step():
    """Time has to pass, or a policy could decide for ever in one moment."""
    step, game = deciding()
    assert list(pressed(step, game)) == [Action.NOP]
    assert step.now.frames == 4


OUTCOMES = st.lists(
    st.tuples(st.floats(-5, 5, width=32), st.integers(0, 240)), min_size=1, max_size=30
)


@given(OUTCOMES)
def test_its_reward_is_the_discounted_sum_of_what_its_steps_earned(
    outcomes: list[tuple[float, int]],
):
    """By definition: what comes after f frames counts gamma^(f / 4)."""
    step, game = deciding(*[Action.UP] * len(outcomes))
    undiscounted, frames, expected = 0.0, 0, 0.0
    for reward, wait in outcomes:
        assert step.button() is not None
        step.note(game.play(reward, wait))
        expected += GAMMA ** (frames / 4) * reward
        undiscounted += reward
        frames += 4 + wait
    assert step.button() is None
    assert step.now.frames == frames == game.frames
    assert step.now.reward == pytest.approx(expected, abs=1e-9)

    plain, game = deciding(*[Action.UP] * len(outcomes), gamma=1.0)
    for reward, wait in outcomes:
        plain.button()
        plain.note(game.play(reward, wait))
    assert plain.now.reward == pytest.approx(undiscounted, abs=1e-9)


@pytest.mark.parametrize("how", ["terminated", "truncated"])
def test_it_is_over_when_the_episode_is(how: str):
    step, game = deciding(Action.UP, Action.UP, Action.UP)
    step.button()
    step.note(game.play(**{how: True}))
    assert step.button() is None
    assert step.now.outcome is not None
    assert step.now.outcome.is_last


def test_a_dead_player_stays_until_the_game_moves_it():
    step, game = deciding(Action.UP, Action.UP, Action.UP)
    step.button()
    step.note(game.play(-2.0, dead=True))
    lying = []
    for dead in (True, True, False):
        lying.append(step.button())
        step.note(game.play(dead=dead))
    assert lying == [Action.NOP] * 3
    assert step.button() is None, "the policy decides what he does with his next life"
    assert step.now.died
    assert step.now.outcome is not None
    assert not step.now.outcome.is_last
    assert (step.now.reward, step.now.frames) == (-2.0, 16)


def test_a_game_that_asks_the_dead_what_they_want_gets_the_policys_answer():
    step, game = deciding(Action.UP)
    step.button()
    step.note(game.play(dead=True))
    assert len(list(pressed(step, game, dead=True))) == MAX_RESPAWN_STEPS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decisions, "carry_out", lambda *_, **__: Presses(Action.A, Action.A))
        step.begin(INTERACT)
    assert list(pressed(step, game, dead=True)) == [Action.A, Action.A]
    assert step.now.died, "he may stand somewhere else after this one"


def test_a_death_that_ends_the_episode_is_no_jump():
    step, game = deciding(Action.UP)
    step.button()
    step.note(game.play(dead=True, terminated=True))
    assert step.now.outcome is not None
    assert step.now.outcome.is_last
    assert not step.now.died


def test_what_was_decided_is_known_until_the_episode_is_over():
    step, game = deciding(Action.UP)
    assert (step.last, step.before) == (WALK.start, 0)
    list(pressed(step, game))
    step.begin(Action.A)
    assert (step.last, step.before) == (Action.A, 1)
    saved = step.state_dict()
    step.begin_episode()
    assert step.last is None
    step.load_state_dict(saved)
    assert step.last == Action.A


def test_each_decision_becomes_a_button_or_none():
    """A language model that names a button is followed by the decision that presses it."""
    named = {decision.name: button_of(decision.index) for decision in DECISIONS}
    assert [named[name] for name in ACTION_NAMES] == list(range(8))
    assert named["WALK_LEFT"] == named["LEAVE_LEFT"] == Action.LEFT
    assert named["INTERACT"] == Action.A
    assert named["AIMED_UP"] == Action.B
    assert button_of(GO_TO.start) == named["ITEM_bombs"] == -1
