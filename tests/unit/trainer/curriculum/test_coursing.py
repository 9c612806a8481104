"""The learner's merged curriculum statistics and their report."""

import pytest

from rlaif.trainer.learner.algorithm.demonstrations import (
    entropy_floor,
    of_all_runners,
    subtasks_to_imitate,
)
from rlaif.trainer.learner.progress import course_report
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.settings.learning import CurriculumSettings

LEG = SubtaskFigures("one", ("sword",), ("map", "shield"), 5, 4, False, 10, 0.5, 0.75)


def course(*subtasks: SubtaskFigures) -> CurriculumFigures:
    return CurriculumFigures(subtasks)


def test_a_subtask_is_imitated_until_it_is_mastered() -> None:
    mastered = LEG._replace(is_mastered=True)
    assert subtasks_to_imitate((LEG, mastered, LEG)) == [0, 2]
    assert subtasks_to_imitate((mastered, mastered)) == []


def test_before_the_first_report_all_subtasks_are_imitated() -> None:
    assert subtasks_to_imitate(()) is None


def test_the_entropy_floor_holds_until_all_subtasks_are_mastered() -> None:
    settings = CurriculumSettings(entropy=0.02)
    mastered = LEG._replace(is_mastered=True)
    floors = [
        entropy_floor(settings, subtasks)
        for subtasks in ((), (LEG, LEG), (LEG, mastered), (mastered,))
    ]
    assert floors == pytest.approx([0.02, 0.02, 0.01, 0.0])


def test_the_least_advanced_runner_counts() -> None:
    other = LEG._replace(at=1, is_mastered=True, tries=6, success=1.0, success_anywhere=None)
    (both,) = of_all_runners([course(LEG._replace(is_mastered=True)), course(other)]).subtasks
    assert (both.at, both.is_mastered) == (4, True)
    assert (both.tries, both.success, both.success_anywhere) == (16, 0.75, 0.75)
    (both,) = of_all_runners([course(LEG), course(other)]).subtasks
    assert not both.is_mastered


def test_without_runners_there_are_no_subtasks() -> None:
    assert of_all_runners([]) == CurriculumFigures()


@pytest.mark.parametrize("whole", [(), (True, False)])
def test_figures_survive_a_checkpoint(whole: tuple[bool, ...]) -> None:
    figures = CurriculumFigures((LEG, LEG._replace(success=None)), whole)
    assert CurriculumFigures.of(figures.plain()) == figures


def test_figures_of_0_1_0_contain_only_subtasks() -> None:
    assert CurriculumFigures.of([tuple(LEG)]) == course(LEG)


def test_end_to_end_episodes_of_all_runners_are_combined() -> None:
    runners = [CurriculumFigures((LEG,), (True, False)), CurriculumFigures((LEG,), (True, True))]
    assert of_all_runners(runners).whole_success == 0.75
    told = course_report(of_all_runners(runners), CurriculumSettings())
    assert (told.whole_tries, told.whole_success) == (4, 0.75)
    untried = course_report(course(LEG), CurriculumSettings())
    assert (untried.whole_tries, untried.whole_success) == (0, None)


def test_a_frontier_is_reported_as_a_share_and_is_0_only_if_mastered() -> None:
    told = course_report(
        course(LEG, LEG._replace(at=0), LEG._replace(at=0, is_mastered=True, demonstration="two")),
        CurriculumSettings(),
    )
    assert [each.frontier for each in told.segments] == [1.0, 0.2, 0.0]
    assert [each.demonstration for each in told.segments] == [0, 0, 1]
    assert (told.phase, told.mastered, told.demonstrations) == ("backward", 1, 2)
    assert told.segments[0].from_mark == "sword"
    assert told.segments[0].to_mark == "shield +1"


def test_the_first_subtask_begins_at_power_on() -> None:
    told = course_report(course(LEG._replace(begins_with=())), CurriculumSettings())
    assert told.segments[0].from_mark is None


def test_when_all_are_mastered_the_curriculum_chains() -> None:
    settings = CurriculumSettings(power_on=0.02, chained=0.5)
    told = course_report(course(LEG._replace(is_mastered=True, at=0)), settings)
    assert (told.phase, told.power_on_share) == ("chaining", 0.5)
