"""Subtasks of several demonstrations, the time of their attempts, and their progress."""

from collections.abc import Callable

import numpy as np
import pytest

from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.subtasks import (
    SLACK_FRAMES,
    Subtask,
    subtasks_of,
    subtasks_of_decisions,
)
from rlaif.trainer.play.frontier import MAX_TIME
from rlaif.trainer.settings.learning import CurriculumSettings

Made = Callable[..., Demonstration]
SETTINGS = CurriculumSettings(tries=2)


def subtasks(
    *demonstrations: Demonstration, settings: CurriculumSettings = SETTINGS
) -> tuple[Subtask, ...]:
    return subtasks_of(demonstrations, settings)


def succeed(subtask: Subtask) -> None:
    while not subtask.frontier.is_mastered:
        subtask.note(subtask.frontier.at, success=True)


def test_equal_beginnings_occur_once_and_noisy_replays_not_at_all(made: Made) -> None:
    longer = made("two", game="same", length=30, marks={8: "sword", 30: "flute"})
    found = subtasks(made("one", game="same"), longer, made("one-0", part_of=("one", 8)))
    assert [subtask.key for subtask in found] == ["one/0", "one/1", "two/1"]
    assert [subtask.after for subtask in found] == [found[1], None, None]
    assert [subtask.before for subtask in found] == [None, found[0], None]


def test_every_decision_belongs_to_its_subtask(made: Made) -> None:
    plays = [
        made("one", game="same"),
        made("one-0", length=6, marks={}, part_of=("one", 20)),
        made("two", game="same", length=30, marks={8: "sword", 26: "flute"}),
        made("three-0", length=3, marks={}, part_of=("three", 8)),
    ]
    found = {name: numbers.tolist() for name, numbers in subtasks_of_decisions(plays).items()}
    assert found == {
        "one": [0] * 8 + [1] * 12,
        "one-0": [1] * 6,
        "two": [0] * 8 + [2] * 18 + [-1] * 4,
        "three-0": [-1] * 3,
    }


@pytest.mark.parametrize("behind", [0.0, 0.25, 1.0])
def test_starts_are_at_the_frontier_or_evenly_behind_it(made: Made, behind: float) -> None:
    settings = CurriculumSettings(tries=2, behind=behind)
    (subtask,) = subtasks(made(length=40, marks={40: "sword"}), settings=settings)
    rng = np.random.default_rng(3)
    assert {subtask.draw_place(rng) for _ in range(20)} == {9}, "the nearest to the goal is first"
    while subtask.frontier.at > 7:
        subtask.note(subtask.frontier.at, success=True)
    at = subtask.frontier.at
    drawn = np.bincount([subtask.draw_place(rng) for _ in range(2000)], minlength=10)
    later = np.full(9 - at, behind / (9 - at))
    assert drawn / 2000 == pytest.approx([*[0] * at, 1 - behind, *later], abs=0.05)


def test_the_weakest_mastered_subtask_has_the_highest_weight(made: Made) -> None:
    first, second = subtasks(made(), settings=CurriculumSettings(tries=10))
    assert (first.weight, second.weight) == (1, 1)
    succeed(first)
    succeed(second)
    for turn in range(10):
        second.note(0, success=turn % 5 != 0)
    assert second.weight == pytest.approx(2 * first.weight)


def test_the_time_limit_is_a_multiple_of_the_demonstrations_time(made: Made) -> None:
    demonstration = made()
    first, second = subtasks(demonstration, settings=CurriculumSettings(tries=2, patience=3))
    frames = demonstration.frames
    assert second.max_frames(0) == 3 * frames[8:20].sum() + SLACK_FRAMES
    assert second.max_frames(2) == 3 * frames[16:20].sum() + SLACK_FRAMES
    while first.frontier.at > 0:
        first.note(first.frontier.at, success=True)
    for turn in range(100):
        first.note(0, success=turn % 2 == 0)
    assert first.max_frames(0) == 3 * MAX_TIME * frames[:8].sum() + SLACK_FRAMES


def test_progress_survives_a_checkpoint_unless_the_starts_differ(made: Made) -> None:
    subtask, _ = subtasks(made())
    succeed(subtask)
    again, _ = subtasks(made())
    again.load_state_dict(subtask.state_dict())
    assert again.figures() == subtask.figures()
    assert again.state_dict() == subtask.state_dict()
    other, _ = subtasks(made(states_every=2))
    other.load_state_dict(subtask.state_dict())
    assert not other.frontier.is_mastered


def test_a_subtask_keeps_its_frontier_when_a_longer_demonstration_replaces_its_own(
    made: Made,
) -> None:
    earlier = subtasks(made("short", game="one"))
    succeed(earlier[0])
    earlier[1].note(earlier[1].frontier.at, success=True)
    longer = made("long", length=28, game="one", marks={8: "sword", 20: "shield", 28: "flute"})
    later = subtasks(longer)
    for subtask in later:
        subtask.continue_from(earlier)
    assert [subtask.frontier.is_mastered for subtask in later] == [True, False, False]
    assert [subtask.figures().tries for subtask in later[1:]] == [1, 0]


def test_another_trajectory_to_a_mastered_goal_is_tried_from_its_beginning(made: Made) -> None:
    earlier, (sword, shield) = subtasks(made("one")), subtasks(made("two"))
    succeed(earlier[0])
    for subtask in (sword, shield):
        subtask.continue_from(earlier)
    assert (sword.frontier.at, sword.frontier.is_mastered) == (0, False)
    assert shield.frontier.at == shield.frontier.places - 1
