"""Curiosity pays for what is new, less for what is known, and the same for equal seeds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.rewards.learned.curiosity import Curiosity, RunningMoments
from rlaif.trainer.rewards.learned.shaping import Transitions

WIDTH = 12


def part(rows: np.ndarray) -> Transitions:
    steps, envs = rows.shape[0] - 1, rows.shape[1]
    none = np.zeros((steps, envs), dtype=bool)
    return Transitions(
        rows, none, none, np.zeros((0, 2), np.int64), np.zeros((0, rows.shape[2]), np.float32)
    )


def played(rng: np.random.Generator, *, steps: int = 64, envs: int = 2) -> Transitions:
    return part(rng.random((steps + 1, envs, WIDTH), dtype=np.float32))


def curiosity(seed: int = 0, weight: float = 1.0) -> Curiosity:
    return Curiosity(inputs=WIDTH, weight=weight, seed=seed)


def pay(of: Curiosity, transitions: Transitions, *, continues: bool = True) -> np.ndarray:
    return of.pay([0], [transitions], [continues])[0]


def test_a_place_grows_dull_and_a_new_one_stands_out():
    rng = np.random.default_rng(1)
    usual = curiosity()
    home = rng.random((1, 1, WIDTH), dtype=np.float32)
    for _ in range(60):
        rows = home + 0.01 * rng.random((129, 2, WIDTH), dtype=np.float32)
        paid = pay(usual, part(rows))
    rows[40] += 1.0
    surprised = pay(usual, part(rows))
    assert surprised[39].min() > 10 * np.delete(surprised, 39, axis=0).max()
    assert paid.mean() < 0.1


def test_the_reward_is_for_the_observation_that_a_step_reached():
    """A truncated step reached its final observation, not the start of the next episode."""
    rng = np.random.default_rng(2)
    one, other = played(rng), played(np.random.default_rng(2))
    cut = np.zeros_like(one.truncated)
    cut[10, 1] = True
    strange = np.full((1, WIDTH), 9.0, dtype=np.float32)
    ended = Transitions(other.observations, other.terminated, cut, np.array([[10, 1]]), strange)
    calm, surprised = pay(curiosity(), one), pay(curiosity(), ended)
    assert surprised[10, 1] > 5 * calm[10, 1]


def test_the_stream_does_not_end_with_an_episode():
    rng = np.random.default_rng(3)
    rows = rng.random((65, 2, WIDTH), dtype=np.float32)
    open_end = part(rows)
    cut = np.zeros_like(open_end.terminated)
    cut[20] = True
    closed = Transitions(
        rows, open_end.terminated, cut, np.array([[20, 0], [20, 1]]), rows[21].copy()
    )
    assert np.array_equal(pay(curiosity(), open_end), pay(curiosity(), closed))


@pytest.mark.parametrize("how", ["terminated", "died"])
def test_dying_is_paid_nothing_for_where_the_player_stands_after_it(how: str):
    """A change of place without walking: a new episode's start, or the respawn point."""
    rng = np.random.default_rng(3)
    rows = rng.random((65, 2, WIDTH), dtype=np.float32)
    calm = part(rows)
    dead = np.zeros_like(calm.terminated)
    dead[20, 1] = True
    strange = rows.copy()
    strange[21, 1] = 9.0
    paid = []
    for shown in (rows, strange):
        of = curiosity()
        shown_dead = replace(calm, observations=shown)
        ends: dict[str, Any] = {how: dead}
        paid.append(pay(of, replace(shown_dead, **ends)))
        assert paid[-1][20, 1] == 0.0, "not paid"
        assert of._observations.count == dead.size - 1, "not learned from"
    assert np.array_equal(paid[0][:20], paid[1][:20])
    assert pay(curiosity(), replace(calm, observations=strange))[20, 1] > 0.0


def test_rewards_are_in_units_of_the_deviation_of_their_discounted_sum():
    """Whatever the scale of the networks, the discounted sums vary by about the weight."""
    rng = np.random.default_rng(4)
    each = curiosity(weight=0.5)
    paid = np.concatenate([pay(each, played(rng, steps=256)) for _ in range(8)])
    sums, running = [], np.zeros(paid.shape[1])
    for row in paid[len(paid) // 2 :]:
        running = running * 0.99 + row
        sums.append(running.copy())
    assert 0.02 < np.std(sums[64:]) < 2.5
    assert (paid >= 0).all()


def test_fragments_of_one_iteration_are_learned_together():
    rng = np.random.default_rng(6)
    parts = [played(rng), played(rng, steps=32, envs=3)]
    shapes = [grid.shape for grid in curiosity().pay([1, 2], parts, [True, True])]
    assert shapes == [(64, 2), (32, 3)]


@given(
    splits=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    offset=st.floats(-100, 100),
    seed=st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_moments_do_not_depend_on_how_the_rows_were_split(splits, offset, seed):
    rows = np.random.default_rng(seed).normal(offset, 2.0, size=(sum(splits), 3))
    moments = RunningMoments.of_width(3)
    for piece in np.split(rows, np.cumsum(splits)[:-1]):
        moments.add(piece)
    assert moments.count == len(rows)
    assert moments.mean == pytest.approx(rows.mean(axis=0), abs=1e-6)
    assert moments.deviation == pytest.approx(rows.std(axis=0), abs=1e-6)
