"""Distribution of starts: at frontiers, behind them, at power-on; changes with success."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.route import SLACK_FRAMES, Route, subtasks_of_decisions
from rlaif.trainer.play.frontier import MAX_TIME
from rlaif.trainer.settings.learning import CurriculumSettings

Made = Callable[..., Demonstration]


def bring_home(route: Route, subtask: int) -> None:
    while not route.figures()[subtask].is_mastered:
        route.note(subtask, route.figures()[subtask].at, success=True)


@given(
    tries=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=200),
    behind=st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_shares_sum_to_1_and_stay_inside_the_subtask(
    made: Made, tries: list[tuple[int, int, bool]], behind: float
) -> None:
    route = Route(
        [made("one"), made("two", length=24)],
        CurriculumSettings(tries=3, behind=behind),
    )
    assert len(route.subtasks) == 4
    for subtask, place, success in tries:
        route.note(subtask, place, success=success)
    assert 0 <= route.power_on_share <= 1
    assert route.subtask_shares().sum() == pytest.approx(1)
    assert (route.subtask_shares() > 0).all()
    for subtask, figures in enumerate(route.figures()):
        shares = route.place_shares(subtask)
        assert len(shares) == figures.places
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        assert not shares[: figures.at].any()


def test_the_first_starts_are_the_nearest_to_each_goal(made: Made) -> None:
    route = Route([made()], CurriculumSettings(power_on=0))
    drawn = {route.draw(np.random.default_rng(seed)) for seed in range(200)}
    assert drawn == {(0, len(route.subtasks[0].segment.starts) - 1), (1, 2)}


def test_mastered_places_get_the_share_behind_the_frontier(made: Made) -> None:
    route = Route([made(length=40, marks={40: "sword"})], CurriculumSettings(tries=2, behind=0.25))
    for _ in range(2):
        route.note(0, 9, success=True)
    assert route.figures()[0].at == 8
    assert route.place_shares(0)[8:].tolist() == pytest.approx([0.75, 0.25])


def test_the_power_on_share_grows_as_subtasks_are_mastered(made: Made) -> None:
    route = Route([made()], CurriculumSettings(tries=2, power_on=0.02, chained=0.5))
    shares = [route.power_on_share]
    for subtask in range(2):
        bring_home(route, subtask)
        shares.append(route.power_on_share)
    assert shares == pytest.approx([0.02, 0.02 + 0.48 / 4, 0.5])


def test_the_weakest_mastered_subtask_is_played_most(made: Made) -> None:
    route = Route([made()], CurriculumSettings(tries=10))
    for subtask in range(2):
        bring_home(route, subtask)
    for turn in range(10):
        route.note(1, 0, success=turn % 5 != 0)
    first, second = route.subtask_shares()
    assert second == pytest.approx(2 * first)


def test_a_start_depends_only_on_the_generator(made: Made) -> None:
    route = Route([made()], CurriculumSettings())
    assert route.draw(np.random.default_rng(5)) == route.draw(np.random.default_rng(5))


def test_a_restored_route_continues(made: Made) -> None:
    route = Route([made()], CurriculumSettings(tries=2))
    bring_home(route, 0)
    route.note(1, 2, success=False)
    other = Route([made()], CurriculumSettings(tries=2))
    other.load_state_dict(route.state_dict())
    assert other.figures() == route.figures()
    assert other.state_dict() == route.state_dict()


def test_subtasks_missing_from_the_state_start_fresh(made: Made) -> None:
    route = Route([made()], CurriculumSettings(tries=2))
    bring_home(route, 0)
    other = Route([made("two"), made(states_every=2)], CurriculumSettings(tries=2))
    other.load_state_dict(route.state_dict())
    assert not any(figures.is_mastered for figures in other.figures())


def test_a_shared_first_subtask_occurs_once(made: Made) -> None:
    route = Route(
        [
            made("one", game="same"),
            made("two", game="same", length=30, marks={8: "sword", 30: "flute"}),
        ],
        CurriculumSettings(),
    )
    assert [subtask.key for subtask in route.subtasks] == ["one/0", "one/1", "two/1"]
    assert [route.after(subtask) for subtask in range(3)] == [1, None, None]


def test_every_decision_belongs_to_its_subtask(made: Made) -> None:
    plays = [
        made("one", game="same"),
        made("one-0", length=6, marks={}, part_of=("one", 20)),
        made("two", game="same", length=30, marks={8: "sword", 26: "flute"}),
        made("three-0", length=3, marks={}, part_of=("three", 8)),
    ]
    assert [subtask.key for subtask in Route(plays, CurriculumSettings()).subtasks] == [
        "one/0", "one/1", "two/1",
    ]  # fmt: skip
    found = {name: subtasks.tolist() for name, subtasks in subtasks_of_decisions(plays).items()}
    assert found == {
        "one": [0] * 8 + [1] * 12,
        "one-0": [1] * 6,
        "two": [0] * 8 + [2] * 18 + [-1] * 4,
        "three-0": [-1] * 3,
    }


def test_noisy_replays_have_no_subtasks(made: Made) -> None:
    route = Route([made("one"), made("two", part_of=("one", 8))], CurriculumSettings())
    assert [subtask.key for subtask in route.subtasks] == ["one/0", "one/1"]


def test_without_subtasks_nothing_is_drawn(made: Made) -> None:
    route = Route([made(marks={})], CurriculumSettings(power_on=0))
    assert route.draw(np.random.default_rng(0)) is None
    assert route.mastered_share == 0


def test_a_subtask_keeps_its_frontier_when_a_longer_demonstration_replaces_its_own(
    made: Made,
) -> None:
    settings = CurriculumSettings(tries=2)
    earlier = Route([made("short", length=20, game="one")], settings)
    bring_home(earlier, 0)
    earlier.note(1, earlier.figures()[1].at, success=True)
    longer = made("long", length=28, game="one", marks={8: "sword", 20: "shield", 28: "flute"})
    later = Route([longer], settings)
    later.continue_from(earlier)
    assert [each.is_mastered for each in later.figures()] == [True, False, False]
    assert [each.tries for each in later.figures()[1:]] == [1, 0]


def test_another_trajectory_to_a_mastered_goal_is_tried_from_its_beginning(made: Made) -> None:
    settings = CurriculumSettings(tries=2)
    earlier, later = Route([made("one")], settings), Route([made("two")], settings)
    bring_home(earlier, 0)
    later.continue_from(earlier)
    sword, shield = later.figures()
    assert (sword.at, sword.is_mastered, sword.tries) == (0, False, 0)
    assert shield.at == shield.places - 1


def test_a_subtask_decided_by_chance_gets_and_keeps_more_time(made: Made) -> None:
    settings = CurriculumSettings(tries=2, patience=3)
    route = Route([made()], settings)
    frames = route.subtasks[0].frames_from(0)
    assert route.time_from(0, 0) == 3 * frames + SLACK_FRAMES
    while (now := route.figures()[0]).at > 0:
        route.note(0, now.at, success=True)
    for turn in range(100):
        route.note(0, 0, success=turn % 2 == 0)
    assert route.time_from(0, 0) == 3 * MAX_TIME * frames + SLACK_FRAMES
    assert route.time_from(1, 0) == 3 * route.subtasks[1].frames_from(0) + SLACK_FRAMES
    other = Route([made()], settings)
    other.load_state_dict(route.state_dict())
    assert other.time_from(0, 0) == route.time_from(0, 0)


def test_a_subtask_has_the_frames_of_its_demonstration(made: Made) -> None:
    demonstration: Any = made()
    subtask = Route([demonstration], CurriculumSettings()).subtasks[1]
    assert subtask.frames_from(0) == demonstration.frames[8:20].sum()
    assert subtask.frames_from(2) == demonstration.frames[16:20].sum()
