"""A tiny environment whose returns are known: every advantage of the only policy must be 0.

A corridor of `LENGTH` squares. Each step goes one square on; the last one pays 1 and ends the
episode. So V(square) = gamma ** (steps left - 1), exactly.
"""

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.batch import advantages
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

LENGTH, GAMMA, LAM = 6, 0.9, 0.8
STEPS, ENVS = 25, 2


def value(squares: np.ndarray) -> np.ndarray:
    """V of `[...]` squares."""
    return (GAMMA ** (LENGTH - 1 - squares)).astype(np.float32)


def potential(observations: np.ndarray) -> np.ndarray:
    """An arbitrary one, of `[B, 1]` observations; not 0 where episodes begin."""
    return np.cos(3.0 * observations[:, 0]).astype(np.float32)


def walked(limit: int) -> tuple[Transitions, np.ndarray]:
    """Transitions of two environments, the second one square ahead, and what each step pays.

    Episodes are cut after `limit` steps.
    """
    squares = np.zeros((STEPS + 1, ENVS, 1), dtype=np.float32)
    rewards = np.zeros((STEPS, ENVS), dtype=np.float32)
    terminated = np.zeros((STEPS, ENVS), dtype=np.bool_)
    truncated = np.zeros((STEPS, ENVS), dtype=np.bool_)
    finals = []
    squares[0, 1] = 1
    for n in range(ENVS):
        age = 0
        for t in range(STEPS):
            age += 1
            square = squares[t, n, 0] + 1
            terminated[t, n] = square == LENGTH
            truncated[t, n] = not terminated[t, n] and age == limit
            rewards[t, n] = float(terminated[t, n])
            if truncated[t, n]:
                finals.append((t, n, square))
            ended = terminated[t, n] or truncated[t, n]
            squares[t + 1, n] = 0 if ended else square
            age = 0 if ended else age
    finals.sort()
    return (
        Transitions(
            observations=squares,
            terminated=terminated,
            truncated=truncated,
            final_index=np.array([(t, n) for t, n, _ in finals], dtype=np.int64).reshape(-1, 2),
            final_observations=np.array([[s] for *_, s in finals], np.float32).reshape(-1, 1),
        ),
        rewards,
    )


def starts(trans: Transitions) -> np.ndarray:
    """`[T, N]` squares where the episode of each step began."""
    squares = trans.observations[:-1, :, 0].copy()
    for t in range(1, STEPS):
        squares[t] = np.where(trans.ended[t - 1], squares[t], squares[t - 1])
    return squares


def errors(
    trans: Transitions, rewards: np.ndarray, offset=lambda squares, began: 0.0
) -> np.ndarray:
    """Advantages when the critic knows V - `offset` of each square and the episode's first one."""
    now, reached, began = trans.observations[:-1, :, 0], trans.reached()[..., 0], starts(trans)
    after = np.where(trans.terminated, 0.0, value(reached) - offset(reached, began))
    return advantages(
        rewards,
        value(now) - offset(now, began),
        after.astype(np.float32),
        trans.ended,
        gamma=GAMMA,
        lam=LAM,
    )


@pytest.mark.parametrize("limit", [100, 4], ids=["ended by the game", "cut on the way"])
def test_a_critic_that_knows_the_returns_is_never_surprised(limit: int):
    trans, rewards = walked(limit)
    assert trans.terminated.any() or trans.truncated.any()
    assert errors(trans, rewards) == pytest.approx(np.zeros((STEPS, ENVS)), abs=1e-6)


def test_without_a_critic_the_advantages_are_the_known_returns():
    trans, rewards = walked(limit=100)
    nothing = np.zeros((STEPS, ENVS), dtype=np.float32)
    result = advantages(rewards, nothing, nothing, trans.ended, gamma=GAMMA, lam=1.0)
    whole = 24  # the last episode of the first environment ends here, of the second a step before
    known = value(trans.observations[:whole, :, 0])
    assert trans.terminated[whole - 1, 0]
    assert trans.terminated[whole - 2, 1]
    assert result[:whole, 0] == pytest.approx(known[:, 0])
    assert result[: whole - 1, 1] == pytest.approx(known[:-1, 1])


def test_cutting_an_episode_is_no_end_of_it():
    trans, rewards = walked(limit=4)
    at = tuple(trans.final_index[0])
    as_if_ended = Transitions(
        trans.observations, trans.terminated | trans.truncated, np.zeros_like(trans.truncated),
        np.empty((0, 2), np.int64), np.empty((0, 1), np.float32),
    )  # fmt: skip
    assert errors(as_if_ended, rewards)[at] < -0.3


@pytest.mark.parametrize("limit", [100, 4], ids=["ended by the game", "cut on the way"])
def test_shaping_shifts_the_values_and_no_advantage(limit: int):
    """V becomes V less what phi rose since the start; after the end it stays 0."""
    trans, rewards = walked(limit)
    shaped = PotentialShaper(gamma=GAMMA, weight=1.0).shape(1, trans, potential, continues=False)

    def phi(squares: np.ndarray) -> np.ndarray:
        return potential(squares.reshape(-1, 1)).reshape(squares.shape)

    def offset(squares: np.ndarray, began: np.ndarray) -> np.ndarray:
        return phi(squares) - phi(began)

    assert np.abs(shaped).max() > 0.3
    assert set(np.unique(starts(trans))) == {0.0, 1.0}, "two starts, so two baselines"
    assert errors(trans, rewards + shaped, offset) == pytest.approx(
        np.zeros((STEPS, ENVS)), abs=1e-5
    )
