"""Shaping must not change what is worth doing: over an episode that ends it sums to nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.reward_net.pay import DISCOUNT, paid
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, ShapingMode, Transitions
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


def shaped(
    shaper: PotentialShaper, part: Transitions, potential: Any, *, runner: int = 0, **how: Any
) -> np.ndarray:
    """Shaping rewards of a fragment; without a model if `potential` is None."""
    potentials = None if potential is None else potential(part.visited())
    return shaper.shape(runner, part, potentials, **how).rewards


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
        pieces.append(shaped(shaper, part, model))
    shaping = np.concatenate(pieces)[:, 0]
    for start, length in zip(np.cumsum([0, *lengths]), lengths, strict=False):
        assert discounted(shaping[start : start + length]) == pytest.approx(0.0, abs=1e-5)


def test_what_people_see_is_the_rise_and_not_the_discount_of_standing_still():
    """After a rise each step that stays there costs (1 - gamma) of it, which is no way back."""
    rows = np.zeros((151, 1, WIDTH), dtype=np.float32)
    rows[1:] = 1.0
    none = np.zeros((150, 1), dtype=bool)
    stands = Transitions(rows, none, none, np.zeros((0, 2), np.int64), rows[:0, 0])
    phi = Linear(3)
    found = PotentialShaper(gamma=GAMMA, weight=WEIGHT).shape(0, stands, phi(stands.visited()))
    rise = WEIGHT * float(phi(rows[1])[0] - phi(rows[0])[0])
    assert found.rises[0, 0] == pytest.approx(rise, abs=1e-6)
    assert not found.rises[1:].any()
    assert found.rewards[1:].sum() == pytest.approx(-149 * (1 - GAMMA) * rise, abs=1e-5)


def test_the_rises_of_an_episode_are_those_of_its_potential_until_its_last_known_state():
    rng = np.random.default_rng(5)
    observations, terminated, truncated = play([30, 20], rng, truncate_last=True)
    (part,) = fragments(observations, terminated, truncated, 50, rng)
    phi = Linear(1)
    shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    rises = shaper.shape(0, part, phi(part.visited())).rises[:, 0]
    first = phi(observations[29]) - phi(observations[0])
    second = phi(part.final_observations) - phi(observations[30])
    assert rises[:30].sum() == pytest.approx(WEIGHT * float(first[0]), abs=1e-5)
    assert rises[30:].sum() == pytest.approx(WEIGHT * float(second[0]), abs=1e-5)


def test_a_restarted_runner_does_not_get_the_old_potentials():
    rng = np.random.default_rng(8)
    model = Linear(2)
    first, second = (next(fragments(*play([5], rng), 5, rng)) for _ in range(2))
    second.observations[0] = first.observations[-1]  # even where it begins in the same state
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaped(shaper, first, Linear(1))
    fresh = shaped(PotentialShaper(gamma=GAMMA, weight=1.0), second, model)
    assert np.array_equal(shaped(shaper, second, model, continues=False), fresh)


def test_after_a_lost_fragment_nothing_old_is_used():
    rng = np.random.default_rng(12)
    first, _, third = fragments(*play([60], rng), 20, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0)
    shaped(shaper, first, Linear(1))
    fresh = shaped(PotentialShaper(gamma=GAMMA, weight=1.0), third, Linear(1))
    assert np.array_equal(shaped(shaper, third, Linear(1)), fresh)


def test_runners_do_not_share_potentials():
    rng = np.random.default_rng(9)
    played = [list(fragments(*play([10], rng), 5, rng)) for _ in range(2)]
    together = PotentialShaper(gamma=GAMMA, weight=1.0)
    alone = [PotentialShaper(gamma=GAMMA, weight=1.0) for _ in played]
    for parts in zip(*played, strict=True):
        for runner, part in enumerate(parts):
            expected = shaped(alone[runner], part, Linear(4))
            assert np.array_equal(shaped(together, part, Linear(4), runner=runner), expected)


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
            shaped(shaper, part, Linear(1))
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
    shaped(shaper, before, old)
    got = shaped(shaper, after, new)[:-1, 0]
    expected = np.diff(new(after.observations[:-1, 0])) if new else np.zeros(39)
    assert got == pytest.approx(expected, abs=1e-6)


def test_a_checkpoint_of_an_earlier_release_keeps_rewarding_its_open_episode():
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
    assert shaped(resumed, second, model)[:, 0] == pytest.approx(expected, abs=1e-6)


def test_the_end_of_a_failed_attempt_is_a_cut_whatever_start_it_had():
    """A critic that expects nothing after it would see the whole potential charged at once."""
    rng = np.random.default_rng(21)
    observations, terminated, _ = play([5], rng)
    part = Transitions(
        observations, terminated, np.zeros_like(terminated), np.empty((0, 2), np.int64),
        np.empty((0, WIDTH), np.float32), lost=terminated,
    )  # fmt: skip
    by_the_game = replace(part, lost=None)
    model = Linear(4)
    before = model(observations[4])[0] - model(observations[0])[0]
    assert abs(before) > 0.1
    cut = shaped(PotentialShaper(gamma=GAMMA, weight=1.0), part, model)
    assert cut[-1, 0] == pytest.approx((GAMMA - 1.0) * before, abs=1e-6)
    height = shaped(PotentialShaper(gamma=GAMMA, weight=1.0, mode="height"), part, model)
    assert height[-1, 0] == 0.0
    charged = shaped(PotentialShaper(gamma=GAMMA, weight=1.0), by_the_game, model)
    assert charged[-1, 0] == pytest.approx(-before, abs=1e-6)


@given(path=st.lists(st.floats(-1, 1, width=32), min_size=2), deaths=st.sets(st.integers(0, 38)))
def test_a_potential_pays_nothing_for_dying_and_coming_back(path: list[float], deaths: set[int]):
    """With the discount 1 an episode gets what it rose, however often it died on the way."""
    paid = climb(path, deaths=tuple(deaths), mode="potential", gamma=1.0)
    assert paid.sum() == pytest.approx(WEIGHT * (path[-1] - path[0]), abs=1e-5)


# --- height ---

Path = list[float]
PATHS = st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40)


def climb(
    path: Path,
    *,
    size: int = 7,
    deaths: tuple[int, ...] = (),
    weight: float = WEIGHT,
    mode: ShapingMode = "height",
    gamma: float = GAMMA,
) -> np.ndarray:
    """Rewards `[T]` of an episode through states of these potentials, in fragments of `size`."""
    rows = np.array(path, np.float32)[:, None, None]
    steps = len(path) - 1
    died = np.isin(np.arange(steps), deaths)[:, None]
    shaper = PotentialShaper(gamma=gamma, weight=weight, mode=mode)
    never = np.zeros((steps, 1), dtype=bool)
    nothing = np.empty((0, 2), np.int64), np.empty((0, 1), np.float32)
    paid = []
    for start in range(0, steps, size):
        part = slice(start, start + size)
        steps_of = Transitions(
            rows[start : start + size + 1], never[part], never[part], *nothing, died=died[part]
        )
        paid.append(shaped(shaper, steps_of, lambda seen: seen[:, 0]))
    return np.concatenate(paid)[:, 0]


@given(path=PATHS, size=st.integers(1, 41))
def test_an_episode_is_paid_how_far_it_rose_above_its_start(path: Path, size: int):
    paid = climb(path, size=size)
    assert (paid >= 0).all(), "the reward is never negative"
    assert paid.sum() == pytest.approx(WEIGHT * (max(path) - path[0]), abs=1e-5)


@given(path=PATHS, deaths=st.sets(st.integers(0, 38)))
def test_dying_does_not_make_the_way_back_worth_anything(path: Path, deaths: set[int]):
    """Nor the jump to the respawn point: a death can only lower what an episode is paid."""
    paid = climb(path, deaths=tuple(deaths))
    assert not paid[sorted(each for each in deaths if each < len(paid))].any()
    assert paid.sum() <= WEIGHT * (max(path) - path[0]) + 1e-5


@given(before=PATHS, after=PATHS)
def test_a_new_episode_is_paid_from_its_own_start(before: Path, after: Path):
    """The episode before it was cut in the highest state there is."""
    rows, cut = np.array([*before, *after], np.float32)[:, None, None], len(before) - 1
    truncated = np.zeros((len(rows) - 1, 1), dtype=bool)
    truncated[cut] = True
    part = Transitions(
        rows, np.zeros_like(truncated), truncated, np.array([[cut, 0]]), np.ones((1, 1), np.float32)
    )
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0, mode="height")
    paid = shaped(shaper, part, lambda seen: seen[:, 0])[:, 0]
    assert paid[: cut + 1].sum() == pytest.approx(1.0 - before[0], abs=1e-5)
    assert paid[cut + 1 :].sum() == pytest.approx(max(after) - after[0], abs=1e-5)


def test_a_swap_of_models_does_not_pay_what_two_models_differ_by():
    rng = np.random.default_rng(14)
    before, after = fragments(*play([20, 60], rng), 40, rng)
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0, mode="height")
    shaped(shaper, before, Linear(1))
    below = float(shaper.state_dict()["0/potentials"][0])
    new = Linear(2)
    phi = new(after.observations[:-1, 0]).astype(np.float64)
    highest = np.maximum.accumulate(np.concatenate([[phi[0] - below], phi[1:]]))
    got = shaped(shaper, after, new)[:-1, 0]
    assert got == pytest.approx(np.diff(highest), abs=1e-6)


def test_a_run_that_changes_to_height_is_not_paid_the_potential_that_it_had():
    shaper = PotentialShaper(gamma=GAMMA, weight=1.0, mode="height")
    row = np.zeros((1, WIDTH), np.float32)
    shaper.load_state_dict({"0/potentials": np.array([1.5]), "0/observations": row})
    rng = np.random.default_rng(3)
    (part,) = fragments(*play([6], rng), 6, rng)
    part.observations[0] = row
    assert shaped(shaper, part, lambda rows: np.zeros(len(rows), np.float32)).max() == 0.0
