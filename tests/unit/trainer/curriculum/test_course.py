"""The curriculum of one environment: starts, time limits, success."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from rlaif.trainer.curriculum.course import Course, CourseFollower
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.subtasks import SLACK_FRAMES
from rlaif.trainer.play.game_env import EpisodeSource
from rlaif.trainer.play.start import Start, StartSet
from rlaif.trainer.settings.learning import CurriculumSettings

Made = Callable[..., Demonstration]
NO_FACTS: Any = None
GIVEN = StartSet([Start.of(b"the start", "power-on")])


class Inner:
    """An inner follower that records its calls."""

    def __init__(self) -> None:
        self.steps = 0
        self.begun: list[str] = []

    def begin_episode(self, facts: Any, start: Start) -> None:
        self.begun.append(start.provenance)

    def after_step(self, facts: Any, action: int, wait: int) -> None:
        self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps = state["steps"]


class Game:
    """An environment whose flags a test sets; each frame has a scene of its own."""

    ram = None

    def __init__(self) -> None:
        self.emulator = self
        self.source = EpisodeSource(GIVEN, np.random.default_rng(0))
        self.frames = 0
        self.until: int | None = None
        self.lost = False
        self.marks: frozenset[str] = frozenset()
        self.scene: Any = object()

    def cut_after(self, frames: int, *, lost: bool = False) -> None:
        self.until, self.lost = frames, lost

    def save_state(self) -> bytes:
        return b"where play arrived, frame %d" % self.frames

    @property
    def is_cut(self) -> bool:
        return self.until is not None and self.frames >= self.until


class Played:
    """A course with one environment, played by a test."""

    def __init__(self, demonstration: Demonstration, **settings: Any) -> None:
        self.settings = CurriculumSettings(**{"power_on": 0, "goes_on": 0, "tries": 2} | settings)
        self.game = cast(Any, Game())
        self.inner = Inner()
        self.course = Course([demonstration], self.settings, lambda ram: self.game.marks)
        self.follower = CourseFollower(self.course, self.game, self.inner)
        self.rng = np.random.default_rng(0)

    def begin(self, marks: str = "") -> Start:
        start = self.game.source.starts.choose(self.rng)
        self.begin_at(start, marks)
        return start

    def begin_at(self, start: Start, marks: str = "") -> None:
        self.game.frames, self.game.until, self.game.lost = 0, None, False
        self.game.marks = frozenset(marks.split())
        self.follower.begin_episode(NO_FACTS, start)

    def step(self, marks: str = "", frames: int = 4) -> None:
        self.game.frames += frames
        self.game.marks |= frozenset(marks.split())
        self.game.scene = object()
        self.follower.after_step(NO_FACTS, 0, 0)

    @property
    def tried(self) -> list[tuple[int, float | None]]:
        return [
            (subtask.tries, subtask.success_anywhere) for subtask in self.course.figures().subtasks
        ]


def test_an_episode_ends_when_the_flags_of_its_subtask_are_set(made: Made) -> None:
    played = Played(made(marks={20: "sword"}))
    played.begin()
    played.step()
    assert not played.game.is_cut
    played.step("sword")
    assert played.game.is_cut
    assert played.tried == [(1, 1.0)]


def test_flags_count_in_any_order_and_after_they_were_reset(made: Made) -> None:
    played = Played(made(marks={20: "key+door"}))
    played.begin()
    played.step("door")
    played.step("key")
    assert played.tried == [(1, 1.0)]
    played.begin()
    played.step("key")
    played.game.marks = frozenset()
    played.step("door")
    assert played.tried == [(2, 1.0)]


def test_flags_of_the_start_state_count_as_reached(made: Made) -> None:
    played = Played(made(marks={1: "key", 20: "door"}, states_every=19))
    played.begin("key")
    played.step("door")
    assert played.tried == [(1, 1.0)]


def test_a_timed_out_attempt_is_lost_and_a_successful_one_is_not(made: Made) -> None:
    demonstration = made(marks={10: "sword", 20: "shield"})
    played = Played(demonstration, goes_on=1)
    played.begin()
    assert played.game.lost
    played.step("sword shield")  # the end of the demonstration: truncated, not lost
    assert played.game.is_cut
    assert not played.game.lost


def test_the_share_of_power_on_grows_as_subtasks_are_mastered(made: Made) -> None:
    course = Played(made(), power_on=0.02, chained=0.5).course
    shares = [course.power_on_share]
    for subtask in course.subtasks:
        while not subtask.frontier.is_mastered:
            subtask.note(subtask.frontier.at, success=True)
        shares.append(course.power_on_share)
    assert shares == pytest.approx([0.02, 0.02 + 0.48 / 4, 0.5])


def test_whole_game_episodes_take_no_more_than_their_share_of_frames(
    made: Made,
) -> None:
    """An episode from power-on lasts as long as a hundred attempts; a random draw alone would give
    them most frames."""
    played = Played(made(marks={20: "sword"}), power_on=0.2, chained=0.2)
    for _ in range(400):
        start = played.begin()
        played.step(frames=10_000 if start.provenance == "power-on" else 100)
    share = played.course.played_otherwise
    assert 0.1 < share < 0.2 + 10_000 / played.course.frames


def test_an_episode_that_ends_before_its_goal_has_failed(made: Made) -> None:
    played = Played(made(marks={20: "sword"}))
    played.begin()
    played.step("shovel")
    played.begin()
    assert played.tried == [(1, 0.0)]


def test_success_moves_the_next_start_back(made: Made) -> None:
    played = Played(made(marks={20: "sword"}), behind=0)
    for _ in range(2):
        assert played.begin().provenance == "demonstration:one/0@16"
        played.step("sword")
    assert played.begin().provenance == "demonstration:one/0@12"


def test_a_continued_episode_attempts_the_next_subtask_from_its_beginning(made: Made) -> None:
    demonstration = made()
    played = Played(demonstration, goes_on=1)
    while not played.begin().provenance.startswith("demonstration:one/0"):
        pass
    before = played.tried[1][0]
    played.step("sword")
    assert not played.game.is_cut
    own = int(demonstration.frames[8:20].sum())
    assert played.game.until == 4 + round(own * played.settings.patience) + SLACK_FRAMES
    played.step("shield")
    assert played.game.is_cut
    assert played.tried[1][0] == before + 1


def test_attempts_also_start_where_episodes_arrived(made: Made) -> None:
    def starts(arrived: float) -> list[Start]:
        resumed = Played(made(), arrived=arrived, power_on=0, chained=0)
        resumed.course.load_state_dict(played.course.state_dict())
        for subtask in resumed.course.subtasks:
            while not subtask.frontier.is_mastered:
                subtask.note(subtask.frontier.at, success=True)
        return [resumed.begin() for _ in range(60)]

    played = Played(made(), power_on=1)
    for _ in range(4):  # one of this many is stored
        played.begin()
        played.step("sword")
    found = [each for each in starts(1.0) if each.provenance == "demonstration:one/1@arrived"]
    assert {start.state for start in found} == {b"where play arrived, frame 4"}
    assert {start.from_play for start in found} == {True}
    assert not any("arrived" in start.provenance for start in starts(0.0))


def test_episodes_from_power_on_follow_all_subtasks(made: Made) -> None:
    demonstration = made()
    played = Played(demonstration, power_on=1)
    assert played.begin().provenance == "power-on"
    needed = int(demonstration.frames[:8].sum())
    assert played.game.until == round(needed * played.settings.patience) + SLACK_FRAMES
    played.step("sword")
    assert not played.game.is_cut
    played.step("shield")
    assert played.game.is_cut
    assert played.tried == [(1, 1.0), (1, 1.0)]


def test_success_of_episodes_from_power_on_is_reported(made: Made) -> None:
    played = Played(made(), power_on=1)
    for reached in ("sword", "sword shield", "", "shield"):
        played.begin()
        played.step(reached)
        assert len(played.course.figures().whole) <= 4
    # The second and the fourth end on arrival, the others when the next one starts.
    assert played.course.figures().whole == (False, True, False, True)
    resumed = Played(made(), power_on=1)
    resumed.course.load_state_dict(played.course.state_dict())
    assert resumed.course.figures() == played.course.figures()


def test_a_restored_end_to_end_episode_still_counts_as_one(made: Made) -> None:
    played = Played(made(), power_on=1)
    played.begin()
    played.step("sword")
    state = played.follower.state_dict()
    resumed = Played(made(), power_on=1)
    resumed.follower.load_state_dict(state)
    resumed.step("shield")
    assert resumed.course.figures().whole == (True,)


THREE = {8: "sword", 14: "shield", 20: "flute"}


@pytest.mark.parametrize("goes_on", [0, 1])
def test_a_later_goal_first_is_a_failure_of_the_present_subtask(made: Made, goes_on: float) -> None:
    played = Played(made(marks=THREE), power_on=1, goes_on=goes_on)
    played.begin()
    played.step("shield")
    assert played.game.is_cut
    assert played.game.lost
    assert played.tried == [(1, 0.0), (0, None), (0, None)]
    assert played.course.figures().whole == (False,)


def test_the_last_goal_counts_even_if_earlier_ones_were_skipped(made: Made) -> None:
    played = Played(made(marks=THREE), power_on=1)
    played.begin()
    played.step("flute")
    assert played.game.is_cut
    assert not played.game.lost
    assert played.tried == [(1, 0.0), (0, None), (0, None)]
    assert played.course.figures().whole == (True,)


def test_goals_reached_at_once_skip_nothing(made: Made) -> None:
    played = Played(made(marks=THREE), power_on=1)
    played.begin()
    played.step("sword shield")
    assert not played.game.is_cut
    played.step("flute")
    assert played.tried == [(1, 1.0), (0, None), (1, 1.0)]


def test_an_early_goal_does_not_skip_other_subtasks(made: Made) -> None:
    played = Played(made(marks={8: "sword", 14: "shield", 20: "flute"}), power_on=1)
    played.begin("flute")
    played.step("sword")
    assert played.tried == [(1, 1.0), (0, None), (0, None)]
    played.step("shield")  # the flute is there: that subtask is complete as it begins
    assert played.tried == [(1, 1.0), (1, 1.0), (1, 1.0)]


def test_an_episode_from_an_archive_is_neither_limited_nor_counted(made: Made) -> None:
    played = Played(made(), power_on=1)
    archived = Start.of(b"a state", "cell 7")
    played.begin_at(replace(archived, from_play=True))
    played.step("sword shield")
    assert played.game.until is None
    assert played.tried == [(0, None), (0, None)]


def test_a_running_episode_finishes_on_the_demonstration_that_was_replaced(made: Made) -> None:
    played = Played(made(marks={20: "sword"}))
    played.begin()
    played.course.follow([made("other", marks={8: "shield", 20: "flute"})])
    played.step("sword")
    assert played.game.is_cut
    assert played.tried == [(0, None), (0, None)]
    assert "other/" in played.begin().provenance


def test_an_attempt_on_a_replaced_demonstration_is_dropped_on_resume(made: Made) -> None:
    played = Played(made(marks={20: "sword"}))
    played.begin()
    state = played.follower.state_dict()
    of_0_1_0 = {"leg": 0, "place": 0, "until": 400, "missing": [(0, {"sword"})]}
    for name, attempt in (("other", state["attempt"]), ("one", of_0_1_0)):
        other = Played(made(name, marks={20: "sword"}))
        other.follower.load_state_dict(state | {"attempt": attempt})
        other.step("sword")
        assert other.tried == [(0, None)]


def test_a_course_without_demonstrations_leaves_the_start_to_others(made: Made) -> None:
    played = Played(made(marks={}))
    assert played.begin().provenance == "power-on"
    played.step("sword")
    assert not played.game.is_cut
    played.course.follow([made()])
    assert "one/" in played.begin().provenance


@pytest.mark.parametrize(("noised", "exact"), [(0, 200), (1, 0)])
def test_some_starts_are_randomized_and_others_are_exact(
    made: Made, noised: float, exact: int
) -> None:
    played = Played(made(), noised=noised)
    assert sum(played.begin().from_play for _ in range(200)) == exact


def test_the_inner_follower_receives_every_call(made: Made) -> None:
    played = Played(made())
    start = played.begin()
    played.step()
    assert played.inner.begun == [start.provenance]
    assert played.inner.steps == 1


def test_a_restored_episode_keeps_reached_and_missing_flags(made: Made) -> None:
    played = Played(made(marks={20: "key+door"}))
    played.begin()
    played.step("key")
    state = played.follower.state_dict()
    other = Played(made(marks={20: "key+door"}))
    other.follower.load_state_dict(state)
    other.step("door")
    assert other.tried == [(1, 1.0)]
    assert other.inner.steps == 2


def test_equal_generators_draw_equal_starts(made: Made) -> None:
    def starts() -> list[str]:
        played = Played(made(), goes_on=0.5, power_on=0.3)
        return [played.begin().provenance for _ in range(20)]

    assert starts() == starts()
