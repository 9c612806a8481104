"""What each part weighs: shares of the reward and of the advantages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.learner.algorithm.batch import advantages
from rlaif.trainer.rewards.learned.statistics import part_statistics


def grid(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)[:, None]


NEVER = np.zeros((3, 1), dtype=bool)


def test_figures_of_a_part():
    found = part_statistics({"game": [grid(1, -1, 3)], "other": [grid(0, 0, -5)]}, [NEVER], decay=0)
    game = found["game"]
    assert (game.sum, game.mean) == (3.0, 1.0)
    assert game.std == pytest.approx(np.std([1, -1, 3]))
    assert game.share == pytest.approx(0.5)
    assert found["other"].share == pytest.approx(0.5)


def test_a_part_that_is_always_the_same_weighs_nothing_in_the_advantages():
    ended = np.ones((3, 1), dtype=bool)
    found = part_statistics({"game": [grid(1, 0, 2)], "wage": [grid(5, 5, 5)]}, [ended], decay=0.99)
    assert found["wage"].share == pytest.approx(15 / 18)
    assert found["wage"].advantage_share == pytest.approx(0.0, abs=1e-9)
    assert found["game"].advantage_share == pytest.approx(1.0)


@given(
    shapes=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 4)), min_size=1, max_size=3),
    seed=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_advantage_shares_add_up_and_are_those_of_the_critics_advantages(shapes, seed):
    rng = np.random.default_rng(seed)
    parts = {
        name: [rng.normal(size=shape).astype(np.float32) for shape in shapes] for name in "abc"
    }
    ended = [rng.random(shape) < 0.1 for shape in shapes]
    found = part_statistics(parts, ended, decay=0.9 * 0.95)
    shares = [each.advantage_share for each in found.values()]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return
    assert sum(known) == pytest.approx(1.0, abs=1e-6)
    of = {
        name: np.concatenate(
            [
                advantages(
                    rewards, np.zeros_like(rewards), np.zeros_like(rewards), ends,
                    gamma=0.9, lam=0.95,
                ).ravel()
                for rewards, ends in zip(grids, ended, strict=True)
            ]
        )
        for name, grids in parts.items()
    }  # fmt: skip
    whole = np.sum(list(of.values()), axis=0)
    if whole.size > 1:
        covariance = np.cov(of["a"], whole, bias=True)
        assert found["a"].advantage_share == pytest.approx(
            covariance[0, 1] / covariance[1, 1], rel=1e-3, abs=1e-3
        )
