"""What is imitated and what for: each row once, returns to the end, a test on what is new."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.examples import examples, held_out, returns_of

Made = Callable[..., Demonstration]


@given(
    length=st.integers(1, 30),
    gamma=st.floats(0.9, 1.0),
    end=st.floats(-5, 5, width=32),
)
def test_a_return_is_all_that_is_paid_later_each_by_the_frames_until_then(
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


def test_what_is_no_example_is_left_out(made: Made) -> None:
    demonstration = made()
    rows = examples([demonstration], gamma=0.99)
    assert len(rows) == demonstration.imitated.sum() < demonstration.length


def test_rows_say_to_which_leg_they_lead_also_when_some_are_left_out(made: Made) -> None:
    demonstration = made()
    rows = examples([demonstration], gamma=0.99)
    assert sorted(rows.legs.tolist()) == sorted(np.repeat([0, 1], [8, 12])[demonstration.imitated])
    learned, tested = held_out([demonstration, made("two", length=24)], gamma=0.99)
    assert set(learned.legs.tolist()) == {0, 1}
    assert set(tested.legs.tolist()) == {2, 3, -1}


def test_what_demonstrations_share_is_there_once(made: Made) -> None:
    demonstration = made(imitated=np.ones(20, dtype=np.bool_))
    twice = examples([demonstration, made("two", imitated=np.ones(20, np.bool_))], gamma=0.99)
    assert len(twice) == 20


def test_a_part_with_noise_is_worth_what_came_after_it_in_its_demonstration(made: Made) -> None:
    whole = made("one")
    part = made(
        "one-0", length=6, marks={}, part_of=("one", 8), imitated=np.ones(6, dtype=np.bool_)
    )
    rows = examples([whole, part], gamma=0.99)
    own = returns_of(whole, gamma=0.99)
    expected = returns_of(part, gamma=0.99, end=float(own[8]))[:-1]
    assert set(expected.tolist()) <= set(rows.returns.tolist())


def test_a_part_whose_demonstration_is_not_there_is_left_out(made: Made) -> None:
    part = made("two-0", length=6, marks={}, part_of=("two", 8))
    assert len(examples([made("one"), part], gamma=0.9)) == made("one").imitated.sum()


def test_the_test_has_no_row_whose_state_was_learned_from(made: Made) -> None:
    one, two = made("one", length=20), made("two", length=24)
    two.observations[:5], two.policy_inputs[:5] = one.observations[:5], one.policy_inputs[:5]
    learned, tested = held_out([one, two], gamma=0.99)
    assert len(learned) == one.imitated.sum()
    assert len(tested) == two.imitated[5:].sum()


def test_parts_with_noise_of_the_tested_demonstration_are_not_learned_from(made: Made) -> None:
    noised = made("two-0", length=6, marks={}, part_of=("two", 8))
    learned, _ = held_out([made("one"), made("two", length=24), noised], gamma=0.99)
    assert len(learned) == made("one").imitated.sum()


def test_of_one_demonstration_nothing_is_kept_apart(made: Made) -> None:
    learned, tested = held_out([made("one")], gamma=0.99)
    assert (len(learned), len(tested)) == (made("one").imitated.sum(), 0)
