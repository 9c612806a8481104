"""What each simulated teacher makes of the truth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.judging.scores import CRITERIA, RUBRIC_WEIGHTS
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.mock_llm.teachers.truth import Truth

VALUES = st.fixed_dictionaries({name: st.floats(0, 1) for name in CRITERIA})
TRUTHS = st.builds(Truth, st.text(max_size=8), VALUES, VALUES)


def truth(value: float, key: str = "s", late: float | None = None) -> Truth:
    whole = dict.fromkeys(CRITERIA, value)
    return Truth(key, whole, None if late is None else dict.fromkeys(CRITERIA, late))


@given(TRUTHS, st.sampled_from(TeacherKind), st.floats(0, 1), st.integers(0, 9))
def test_every_teacher_stays_in_range_and_repeats_itself(one, kind, error, seed):
    teacher = Teacher(kind, error, seed)
    answer = teacher.score(one)
    assert answer == Teacher(kind, error, seed).score(one)
    assert set(answer) <= set(one.values)
    assert all(0.0 <= value <= 1.0 for value in answer.values())


@given(TRUTHS)
def test_the_perfect_teacher_says_the_truth(one):
    assert Teacher().score(one) == one.values


def test_the_noisy_teacher_is_wrong_as_often_as_it_is_told():
    teacher = Teacher(TeacherKind.NOISY, 0.1)
    wrong = [teacher.score(truth(0.9, f"segment-{n}"))["progress"] < 0.5 for n in range(2000)]
    assert sum(wrong) / len(wrong) == pytest.approx(0.1, abs=0.02)


def test_the_random_teacher_knows_nothing():
    teacher = Teacher(TeacherKind.RANDOM)
    said = [teacher.score(truth(0.9, f"segment-{n}"))["progress"] for n in range(2000)]
    assert sum(said) / len(said) == pytest.approx(0.5, abs=0.03)


def test_the_myopic_teacher_sees_the_end_only():
    teacher = Teacher(TeacherKind.MYOPIC)
    assert teacher.score(truth(0.7, late=0.0)) == dict.fromkeys(CRITERIA, 0.0)


def test_the_skipping_teacher_does_not_answer_on_what_is_all_bad():
    teacher = Teacher(TeacherKind.SKIPPING, 0.3)
    assert teacher.score(truth(0.1)) == {}
    assert teacher.score(truth(0.5)) == truth(0.5).values
    assert teacher.prefer(truth(0.1), truth(0.5), RUBRIC_WEIGHTS) is None


def test_the_position_biased_teacher_prefers_what_it_is_shown_first():
    teacher = Teacher(TeacherKind.POSITION_BIASED, 0.3)
    worse, better = truth(0.5), truth(0.6)
    assert teacher.prefer(worse, better, RUBRIC_WEIGHTS) == 1.0
    assert teacher.prefer(better, worse, RUBRIC_WEIGHTS) == 1.0
    assert teacher.prefer(truth(0.1), truth(0.9), RUBRIC_WEIGHTS) == 0.0


def test_the_adversarial_teacher_lies_about_the_best():
    teacher = Teacher(TeacherKind.ADVERSARIAL, 0.3)
    assert teacher.score(truth(0.9))["progress"] == pytest.approx(0.1)
    assert teacher.score(truth(0.5))["progress"] == 0.5


def test_equal_segments_are_a_tie():
    assert Teacher().prefer(truth(0.5, "a"), truth(0.5, "b"), RUBRIC_WEIGHTS) == 0.5
    assert Teacher().prefer(truth(0.5), truth(0.53), RUBRIC_WEIGHTS, tie_band=0.05) == 0.5
