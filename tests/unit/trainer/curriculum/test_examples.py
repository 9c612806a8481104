"""Samples for imitation: unique rows, returns, test set."""

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


def test_rows_that_are_not_imitated_are_left_out(made: Made) -> None:
    demonstration = made()
    rows = examples([demonstration], gamma=0.99)
    assert len(rows) == demonstration.imitated.sum() < demonstration.length


def test_rows_have_their_subtask_also_when_some_are_left_out(made: Made) -> None:
    demonstration = made()
    rows = examples([demonstration], gamma=0.99)
    assert sorted(rows.subtasks.tolist()) == sorted(
        np.repeat([0, 1], [8, 12])[demonstration.imitated]
    )
    learned, tested = held_out([demonstration, made("two", length=24)], gamma=0.99)
    assert set(learned.subtasks.tolist()) == {0, 1}
    assert set(tested.subtasks.tolist()) == {2, 3, -1}


def test_shared_rows_occur_once(made: Made) -> None:
    demonstration = made(imitated=np.ones(20, dtype=np.bool_))
    twice = examples([demonstration, made("two", imitated=np.ones(20, np.bool_))], gamma=0.99)
    assert len(twice) == 20


def test_the_return_of_a_noisy_replay_includes_the_rest_of_its_demonstration(made: Made) -> None:
    whole = made("one")
    part = made(
        "one-0", length=6, marks={}, part_of=("one", 8), imitated=np.ones(6, dtype=np.bool_)
    )
    rows = examples([whole, part], gamma=0.99)
    own = returns_of(whole, gamma=0.99)
    expected = returns_of(part, gamma=0.99, end=float(own[8]))[:-1]
    assert set(expected.tolist()) <= set(rows.returns.tolist())


def test_a_noisy_replay_without_its_demonstration_is_left_out(made: Made) -> None:
    part = made("two-0", length=6, marks={}, part_of=("two", 8))
    assert len(examples([made("one"), part], gamma=0.9)) == made("one").imitated.sum()


def test_the_test_set_shares_no_state_with_the_training_set(made: Made) -> None:
    one, two = made("one", length=20), made("two", length=24)
    two.observations[:5], two.policy_inputs[:5] = one.observations[:5], one.policy_inputs[:5]
    learned, tested = held_out([one, two], gamma=0.99)
    assert len(learned) == one.imitated.sum()
    assert len(tested) == two.imitated[5:].sum()


def test_noisy_replays_of_the_tested_demonstration_are_not_trained_on(made: Made) -> None:
    noised = made("two-0", length=6, marks={}, part_of=("two", 8))
    learned, _ = held_out([made("one"), made("two", length=24), noised], gamma=0.99)
    assert len(learned) == made("one").imitated.sum()


def test_one_demonstration_has_no_test_set(made: Made) -> None:
    learned, tested = held_out([made("one")], gamma=0.99)
    assert (len(learned), len(tested)) == (made("one").imitated.sum(), 0)
