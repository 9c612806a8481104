"""What a learner imitates along demonstrations, and the merged statistics of all runners."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray.rllib.core.columns import Columns

from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.learner.algorithm.demonstrations import (
    held_out,
    of_all_runners,
    returns_of,
    subtasks_to_imitate,
)
from rlaif.trainer.learner.algorithm.imitation import RETURNS, SUBTASKS, Rows
from rlaif.trainer.learner.progress import course_report
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.settings.learning import CurriculumSettings

Made = Callable[..., Demonstration]


def count(rows: Rows) -> int:
    return len(rows[Columns.ACTIONS])


@given(length=st.integers(1, 30), gamma=st.floats(0.9, 1.0), end=st.floats(-5, 5, width=32))
def test_returns_discount_later_rewards_by_frames(
    made: Made, length: int, gamma: float, end: float
) -> None:
    demonstration = made(length=length, marks={})
    returns = returns_of(demonstration, gamma=gamma, end=end)
    frames = np.concatenate([[0], np.cumsum(demonstration.frames)]) / 4
    for at in range(length + 1):
        later = sum(
            gamma ** (frames[k] - frames[at]) * float(demonstration.rewards[k])
            for k in range(at, length)
        )
        expected = later + gamma ** (frames[length] - frames[at]) * end
        assert returns[at] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_imitated_rows_have_their_subtask(made: Made) -> None:
    one = made()
    learned, tested = held_out([one], gamma=0.99)
    assert count(learned) == one.imitated.sum() < one.length
    assert learned[SUBTASKS].tolist() == np.repeat([0, 1], [8, 12])[one.imitated].tolist()
    assert count(tested) == 0
    learned, tested = held_out([one, made("two", length=24)], gamma=0.99)
    assert set(learned[SUBTASKS].tolist()) == {0, 1}
    assert set(tested[SUBTASKS].tolist()) == {2, 3, -1}


def test_shared_rows_occur_once_and_are_not_tested(made: Made) -> None:
    one, two, three = made("one"), made("two", length=24), made("three", length=28)
    for other in (two, three):
        other.observations[:5], other.policy_inputs[:5] = (
            one.observations[:5],
            one.policy_inputs[:5],
        )
        other.decisions[:5], other.imitated[:5] = one.decisions[:5], one.imitated[:5]
    learned, tested = held_out([one, two, three], gamma=0.99)
    assert count(learned) == one.imitated.sum() + two.imitated[5:].sum()
    assert count(tested) == three.imitated[5:].sum()


def test_the_return_of_a_noisy_replay_includes_the_rest_of_its_demonstration(made: Made) -> None:
    whole, all_rows = made("one"), np.ones(6, dtype=np.bool_)
    part = made("one-0", length=6, marks={}, part_of=("one", 8), imitated=all_rows)
    rows, _ = held_out([whole, part], gamma=0.99)
    own = returns_of(whole, gamma=0.99)
    expected = returns_of(part, gamma=0.99, end=float(own[8]))[:-1]
    assert set(expected.tolist()) <= set(rows[RETURNS].tolist())


def test_noisy_replays_of_a_tested_or_unknown_demonstration_are_left_out(made: Made) -> None:
    one, two = made("one"), made("two", length=24)
    noised = [made(f"{name}-0", length=6, marks={}, part_of=(name, 8)) for name in ("two", "three")]
    learned, _ = held_out([one, two, *noised], gamma=0.99)
    assert count(learned) == one.imitated.sum()


LEG = SubtaskFigures("one", ("sword",), ("map", "shield"), 5, 4, False, 10, 0.5, 0.75)
MASTERED = LEG._replace(is_mastered=True)


def course(*subtasks: SubtaskFigures) -> CurriculumFigures:
    return CurriculumFigures(subtasks)


def test_a_subtask_is_imitated_until_it_is_mastered() -> None:
    assert subtasks_to_imitate((LEG, MASTERED, LEG)) == [0, 2]
    assert subtasks_to_imitate(()) is None, "all, before the first report"


def test_the_least_advanced_runner_counts() -> None:
    other = MASTERED._replace(at=1, tries=6, success=1.0, success_anywhere=None)
    (both,) = of_all_runners([course(MASTERED), course(other)]).subtasks
    assert (both.at, both.is_mastered) == (4, True)
    assert (both.tries, both.success, both.success_anywhere) == (16, 0.75, 0.75)
    (both,) = of_all_runners([course(LEG), course(other)]).subtasks
    assert not both.is_mastered


@pytest.mark.parametrize("whole", [(), (True, False)])
def test_figures_survive_a_checkpoint(whole: tuple[bool, ...]) -> None:
    figures = CurriculumFigures((LEG, LEG._replace(success=None)), whole)
    assert CurriculumFigures.of(figures.plain()) == figures


def test_figures_of_0_1_0_contain_only_subtasks() -> None:
    assert CurriculumFigures.of([tuple(LEG)]) == course(LEG)


def test_end_to_end_episodes_of_all_runners_are_combined() -> None:
    runners = [CurriculumFigures((LEG,), (True, False)), CurriculumFigures((LEG,), (True, True))]
    reported = course_report(of_all_runners(runners), CurriculumSettings())
    assert (reported.whole_tries, reported.whole_success) == (4, 0.75)
    untried = course_report(course(LEG), CurriculumSettings())
    assert (untried.whole_tries, untried.whole_success) == (0, None)


def test_a_frontier_is_reported_as_a_share_and_is_0_only_if_mastered() -> None:
    reported = course_report(
        course(LEG, LEG._replace(at=0), MASTERED._replace(at=0, demonstration="two")),
        CurriculumSettings(),
    )
    assert [each.frontier for each in reported.segments] == [1.0, 0.2, 0.0]
    assert [each.demonstration for each in reported.segments] == [0, 0, 1]
    assert (reported.phase, reported.mastered, reported.demonstrations) == ("backward", 1, 2)
    assert (reported.segments[0].from_mark, reported.segments[0].to_mark) == ("sword", "shield +1")


def test_the_first_subtask_begins_at_power_on_and_mastered_ones_are_chained() -> None:
    settings = CurriculumSettings(power_on=0.02, chained=0.5)
    reported = course_report(course(MASTERED._replace(at=0, begins_with=())), settings)
    assert reported.segments[0].from_mark is None
    assert (reported.phase, reported.power_on_share) == ("chaining", 0.5)
