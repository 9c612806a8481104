"""Shaping must not change what is worth doing: its discounted sum is fixed by the first state."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

GAMMA, WEIGHT = 0.999, 0.7
WIDTH = 6


class Linear:
    """A potential that is easy to tell from another: tanh of a random projection."""

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
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_the_discounted_sum_over_a_finished_episode_is_minus_the_first_potential(
    swap_every, lengths, size, seed
):
    rng = np.random.default_rng(seed)
    observations, terminated, truncated = play(lengths, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    pieces, live_at = [], []
    for number, part in enumerate(fragments(observations, terminated, truncated, size, rng)):
        model = Linear(number // swap_every if swap_every else 0)
        pieces.append(shaper.shape(0, part, model))
        live_at += [model] * len(part.terminated)
    shaping = np.concatenate(pieces)[:, 0]

    start = 0
    for length in lengths:
        # The potential of a first state is read in the fragment that reset into it.
        reader = live_at[max(start - 1, 0)]
        first = float(reader(observations[start])[0])
        assert discounted(shaping[start : start + length]) == pytest.approx(
            -WEIGHT * first, abs=1e-5
        )
        start += length


def test_reading_both_terms_with_the_new_model_would_break_it():
    """Shows that the test above can fail: a shaper that forgets is off by far more than 1e-5."""
    rng = np.random.default_rng(3)
    observations, terminated, truncated = play([300], rng)
    total = np.concatenate(
        [
            PotentialShaper(gamma=GAMMA, weight=WEIGHT).shape(0, part, Linear(number))
            for number, part in enumerate(fragments(observations, terminated, truncated, 50, rng))
        ]
    )[:, 0]
    first = float(Linear(0)(observations[0])[0])
    assert abs(discounted(total) + WEIGHT * first) > 0.05


def test_a_truncated_step_bootstraps_from_its_final_observation():
    rng = np.random.default_rng(5)
    observations, terminated, truncated = play([4], rng, truncate_last=True)
    (part,) = fragments(observations, terminated, truncated, 4, rng)
    model = Linear(1)
    shaping = PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, part, model)
    expected = GAMMA * model(part.final_observations)[0] - model(observations[3])[0]
    assert shaping[3, 0] == pytest.approx(expected, abs=1e-6)


def test_without_a_model_nothing_is_added():
    rng = np.random.default_rng(6)
    (part,) = fragments(*play([10], rng), 10, rng)
    assert not PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, part, None).any()


def test_the_first_model_of_a_run_may_arrive_in_the_middle_of_an_episode():
    rng = np.random.default_rng(7)
    observations, terminated, truncated = play([60], rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    models = [None, None, Linear(1)]
    parts = fragments(observations, terminated, truncated, 20, rng)
    total = np.concatenate(
        [shaper.shape(0, part, model) for part, model in zip(parts, models, strict=True)]
    )[:, 0]
    assert discounted(total) == pytest.approx(0.0, abs=1e-4)


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
    parts = [next(fragments(*play([5], rng), 5, rng)) for _ in range(2)]
    model = Linear(4)
    together = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaped = [together.shape(runner, part, model) for runner, part in enumerate(parts)]
    for part, got in zip(parts, shaped, strict=True):
        alone = PotentialShaper(gamma=GAMMA, weight=1.0).shape(0, part, model)
        assert np.array_equal(got, alone)


@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=3),
    size=st.integers(1, 97),
    weights=st.lists(st.floats(0, 5), min_size=1, max_size=8),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_a_weight_that_ramps_keeps_the_sum_of_the_weighted_first_potential(
    lengths, size, weights, seed
):
    rng = np.random.default_rng(seed)
    observations, terminated, truncated = play(lengths, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=0.0)
    pieces, live_at = [], []
    for number, part in enumerate(fragments(observations, terminated, truncated, size, rng)):
        shaper.weight = weights[number % len(weights)]
        model = Linear(number)
        pieces.append(shaper.shape(0, part, model))
        live_at += [(model, shaper.weight)] * len(part.terminated)
    shaping = np.concatenate(pieces)[:, 0]
    start = 0
    for length in lengths:
        model, weight = live_at[max(start - 1, 0)]
        first = float(model(observations[start])[0])
        assert discounted(shaping[start : start + length]) == pytest.approx(
            -weight * first, abs=1e-5
        )
        start += length


@given(
    loop=st.integers(1, 40), laps=st.integers(1, 30), size=st.integers(1, 64),
    seed=st.integers(0, 2**16),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_walking_in_a_loop_pays_nothing(loop, laps, size, seed):
    """Undiscounted a lap pays 0. Discounted, any number of laps loses at most the first state."""
    rng = np.random.default_rng(seed)
    round_trip = rng.random((loop, 1, WIDTH), dtype=np.float32)
    observations = np.concatenate([round_trip] * laps + [round_trip[:1]])
    none = np.zeros((loop * laps, 1), dtype=bool)
    first = float(Linear(1)(observations[0])[0])
    totals = {}
    for gamma in (1.0, GAMMA):
        shaper = PotentialShaper(gamma=gamma, weight=1.0)
        paid = np.concatenate(
            [
                shaper.shape(0, part, Linear(1))
                for part in fragments(observations, none, none, size, rng)
            ]
        )[:, 0].astype(np.float64)
        totals[gamma] = float((gamma ** np.arange(len(paid)) * paid).sum())
    assert totals[1.0] == pytest.approx(0.0, abs=1e-5)
    assert totals[GAMMA] == pytest.approx((GAMMA ** (loop * laps) - 1) * first, abs=1e-5)


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
