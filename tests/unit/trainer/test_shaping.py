"""Shaping must not change what is worth doing: over an episode that ends it sums to nothing."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.reward_net.pay import DISCOUNT, paid
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions
from rlaif.trainer.settings.learning import PpoSettings

GAMMA, WEIGHT = 0.999, 0.7
WIDTH = 6


class Linear:
    """A recognizable potential: tanh of a random projection."""

    def __init__(self, seed: int) -> None:
        self.weights = np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32)

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        return np.tanh(observations @ self.weights).astype(np.float32)


def play(
    lengths: list[int], rng: np.random.Generator, *, truncate_last: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Episodes one after the other in one environment: observations, terminated, truncated."""
    steps = sum(lengths)
    observations = rng.random((steps + 1, 1, WIDTH), dtype=np.float32)
    terminated = np.zeros((steps, 1), dtype=bool)
    truncated = np.zeros((steps, 1), dtype=bool)
    for end in np.cumsum(lengths) - 1:
        terminated[end, 0] = True
    if truncate_last:
        terminated[-1, 0], truncated[-1, 0] = False, True
    return observations, terminated, truncated


def fragments(
    observations: np.ndarray, terminated: np.ndarray, truncated: np.ndarray,
    size: int, rng: np.random.Generator,
) -> Iterator[Transitions]:  # fmt: skip
    """Cut into consecutive fragments of `size` steps, as a runner would return them."""
    for start in range(0, len(terminated), size):
        stop = min(start + size, len(terminated))
        index = np.argwhere(truncated[start:stop])
        yield Transitions(
            observations=observations[start : stop + 1],
            terminated=terminated[start:stop],
            truncated=truncated[start:stop],
            final_index=index.astype(np.int64).reshape(-1, 2),
            final_observations=rng.random((len(index), WIDTH), dtype=np.float32),
        )


def discounted(rewards: np.ndarray) -> float:
    return float((GAMMA ** np.arange(len(rewards)) * rewards.astype(np.float64)).sum())


@pytest.mark.parametrize("swap_every", [None, 1, 3], ids=["one model", "each", "each third"])
@given(
    lengths=st.lists(st.integers(1, 400), min_size=1, max_size=4),
    size=st.integers(1, 97),
    weights=st.one_of(st.just([WEIGHT]), st.lists(st.floats(0, 5), min_size=1, max_size=8)),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_the_discounted_sum_over_a_finished_episode_is_nothing(
    swap_every, lengths, size, weights, seed
):
    """Whatever models are swapped and weights change between fragments."""
    rng = np.random.default_rng(seed)
    observations, terminated, truncated = play(lengths, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=0.0)
    pieces = []
    for number, part in enumerate(fragments(observations, terminated, truncated, size, rng)):
        shaper.weight = weights[number % len(weights)]
        model = Linear(number // swap_every if swap_every else 0)
        pieces.append(shaper.shape(0, part, model))
    shaping = np.concatenate(pieces)[:, 0]
    for start, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        assert discounted(shaping[start : start + length]) == pytest.approx(0.0, abs=1e-5)


def test_a_truncated_step_bootstraps_from_its_final_observation():
    rng = np.random.default_rng(5)
    observations, terminated, truncated = play([4], rng, truncate_last=True)
    (part,) = fragments(observations, terminated, truncated, 4, rng)
    model = Linear(1)
    shaping = PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, part, model)
    start = model(observations[0])[0]
    final = model(part.final_observations)[0]
    expected = GAMMA * (final - start) - (model(observations[3])[0] - start)
    assert shaping[3, 0] == pytest.approx(expected, abs=1e-6)


def test_a_runner_that_was_started_anew_is_not_given_the_old_potentials():
    rng = np.random.default_rng(8)
    model = Linear(2)
    first, second = (next(fragments(*play([5], rng), 5, rng)) for _ in range(2))
    second.observations[0] = first.observations[-1]  # even where it begins in the same state
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaper.shape(0, first, Linear(1))
    fresh = PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, second, model)
    assert np.array_equal(shaper.shape(0, second, model, continues=False), fresh)


def test_after_a_lost_fragment_nothing_old_is_used():
    rng = np.random.default_rng(12)
    first, _, third = fragments(*play([60], rng), 20, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaper.shape(0, first, Linear(1))
    fresh = PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, third, Linear(1))
    assert np.array_equal(shaper.shape(0, third, Linear(1)), fresh)


def test_runners_do_not_share_potentials():
    rng = np.random.default_rng(9)
    played = [list(fragments(*play([10], rng), 5, rng)) for _ in range(2)]
    together = PotentialShaper(gamma=GAMMA, weight=1.0)
    alone = [PotentialShaper(gamma=GAMMA, weight=1.0) for _ in played]
    for parts in zip(*played, strict=True):
        for runner, part in enumerate(parts):
            expected = alone[runner].shape(0, part, Linear(4))
            assert np.array_equal(together.shape(runner, part, Linear(4)), expected)


@given(
    lengths=st.lists(st.integers(1, 200), min_size=1, max_size=3), size=st.integers(1, 97),
    rows=st.integers(2, 150), cut=st.booleans(), seed=st.integers(0, 2**16),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_beginning_of_an_episode_is_paid_what_reward_models_are_fitted_by(
    lengths, size, rows, cut, seed
):
    """`rlaif.reward_net.pay` needs the first and the last observation; here steps are added up."""
    rng = np.random.default_rng(seed)
    observations, terminated, truncated = play([*lengths, rows], rng, truncate_last=cut)
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaping = np.concatenate(
        [
            shaper.shape(0, part, Linear(1))
            for part in fragments(observations, terminated, truncated, size, rng)
        ]
    )[:, 0]
    first = sum(lengths)
    segment = observations[first : first + rows, 0]
    assert discounted(shaping[first : first + rows - 1]) == pytest.approx(
        paid(Linear(1), segment, GAMMA), abs=1e-5
    )


def test_models_are_fitted_by_the_discount_that_the_trainer_has_by_default():
    assert PpoSettings().gamma == DISCOUNT


@pytest.mark.parametrize(
    ("old", "new"),
    [(Linear(1), Linear(2)), (None, Linear(2)), (Linear(1), None)],
    ids=["another model", "the first one", "none any more"],
)
def test_a_swap_of_models_pays_nothing_by_itself(old, new):
    """The steps after it are paid what the new model says of them, not how far the two differ."""
    rng = np.random.default_rng(14)
    before, after = fragments(*play([20, 60], rng), 40, rng)
    shaper = PotentialShaper(gamma=1.0, weight=1.0)
    shaper.shape(0, before, old)
    got = shaper.shape(0, after, new)[:-1, 0]
    expected = np.diff(new(after.observations[:-1, 0])) if new else np.zeros(39)
    assert got == pytest.approx(expected, abs=1e-6)


def test_a_checkpoint_of_an_earlier_release_goes_on_paying_its_open_episode_as_it_did():
    """It holds potentials as they are; the episode that was open then counts from 0."""
    rng = np.random.default_rng(15)
    first, second = fragments(*play([40], rng), 20, rng)
    model = Linear(3)
    resumed = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    last = first.observations[-1]
    resumed.load_state_dict(
        {"0/potentials": WEIGHT * model(last).astype(np.float64), "0/observations": last}
    )
    phi = WEIGHT * model(second.observations[:, 0]).astype(np.float64)
    phi[-1] = 0.0
    expected = GAMMA * phi[1:] - phi[:-1]
    assert resumed.shape(0, second, model)[:, 0] == pytest.approx(expected, abs=1e-6)


def test_a_shaper_goes_on_from_its_state():
    rng = np.random.default_rng(11)
    parts = list(fragments(*play([50], rng), 10, rng))
    whole = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    for number, part in enumerate(parts[:3]):
        whole.shape(0, part, Linear(number))
    resumed = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    resumed.load_state_dict(whole.state_dict())
    for part in parts[3:]:
        assert np.array_equal(whole.shape(0, part, Linear(9)), resumed.shape(0, part, Linear(9)))
