"""The fit: what it compares, what it learns, and that it repeats."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.game.observation import (
    LAYOUT,
    LAYOUT_VERSION,
    OBSERVATION_SIZE,
    slot_index,
)
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.labels.worth import value_of_rise
from rlaif.reward_model.learning.fit.bradley_terry import (
    OBJECTIVES,
    batches,
    fit,
    freeze_constants,
)
from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.settings import FitSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.data.judging.scored_segments import PROGRESS_DIM

SPEC = RewardNetSpec(layout_version="layout-1", activation="tanh")
REAL = RewardNetSpec(layout_version=LAYOUT_VERSION, activation="tanh")


def fitted(segments, *, seed=0, members=1, bags=None, epochs=30, spec=SPEC, **changes):
    settings = FitSettings(members=members, **changes)
    return fit(
        Side("train", segments, PairTable(segments), []),
        np.ones((members, len(segments)), np.float32) if bags is None else bags,
        spec=spec.model_copy(update={"members": members}),
        settings=settings,
        seed=seed,
        epochs=epochs,
    )


def weights_of(net: RewardNet) -> bytes:
    return b"".join(value.numpy().tobytes() for value in net.state_dict().values())


def somewhere(rng: np.random.Generator, count: int) -> np.ndarray:
    """`[count, 128]` observations of the real layout, anywhere in one room, nothing owned."""
    rows = np.zeros((count, OBSERVATION_SIZE), np.float32)
    rows[:, slot_index("player_x")] = rng.uniform(0.0, 0.6, count)
    rows[:, slot_index("menu_open")] = rng.integers(0, 2, count)
    return rows


def walking(labels) -> list[LabelledSegment]:
    """Judged by who says that the goal is to the right, whatever the menu shows."""
    rng = np.random.default_rng(0)
    segments = []
    for item in labels(episodes=10, each=6, signal=False):
        ends = somewhere(rng, 2)
        positions = tuple(3.0 + ends[:, slot_index("player_x")].astype(float))
        values = {"progress": value_of_rise(positions[1] - positions[0])}
        segments.append(replace(item, observations=ends, positions=positions, values=values))
    return segments


@pytest.fixture(scope="module")
def walked(labels) -> RewardNet:
    return fitted(walking(labels), epochs=120, spec=REAL)


def test_the_answer_is_a_position_on_the_quest(walked):
    rows = somewhere(np.random.default_rng(1), 200)
    with torch.inference_mode():
        found = walked(torch.from_numpy(rows)).numpy()
    right = rows[:, slot_index("player_x")]
    assert np.corrcoef(found, right)[0, 1] > 0.98
    assert np.polyfit(right, found, 1)[0] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("name", ["has_feather", "sword_level", "essences"])
def test_what_is_owned_and_was_never_seen_does_not_count_against_the_player(walked, name):
    rows = somewhere(np.random.default_rng(1), 50)
    owned = rows.copy()
    owned[:, slot_index(name)] = 1.0 / max(1.0, LAYOUT[slot_index(name)].scale)
    with torch.inference_mode():
        rise = walked(torch.from_numpy(owned)) - walked(torch.from_numpy(rows))
    assert rise.mean() > 0


def test_equal_seeds_give_equal_weights_and_no_global_generator_is_touched(labels):
    segments = labels(episodes=2, each=10, signal=True)
    before = torch.random.get_rng_state()
    first, second = fitted(segments, epochs=3), fitted(segments, epochs=3)
    assert weights_of(first) == weights_of(second)
    assert weights_of(first) != weights_of(fitted(segments, epochs=3, seed=1))
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_potential_rises_along_the_dimension_that_the_judges_reward(labels):
    segments = labels(episodes=6, each=12, signal=True, distractors=8)
    phi = PotentialFunction(fitted(segments, epochs=40))
    ramp = np.full((11, 128), 0.3, np.float32)
    ramp[:, PROGRESS_DIM] = np.linspace(0, 1, 11)
    assert phi(ramp)[-1] > phi(ramp)[0]


def test_a_potential_is_near_zero_at_the_start_of_episodes_and_spread_over_the_rest():
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(0))
    rng = np.random.default_rng(0)
    everything = rng.random((500, 128), dtype=np.float32)
    starts = np.zeros((5, 128), np.float32)
    phi = PotentialFunction(freeze_constants(net, everything, starts))
    assert np.abs(phi(starts)).max() < 1e-6
    assert phi(everything).std() > 0


@pytest.mark.parametrize("reach", [1.0, 100.0])
def test_an_objective_is_a_tenth_of_the_scale_wherever_play_reaches(reach):
    """Early in a run one objective does not span all of the potential, and late not nothing."""
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        net.net[-1].weight.mul_(10.0 * reach)  # type: ignore[operator]
    everything = np.random.default_rng(0).random((500, 128), dtype=np.float32)
    frozen = freeze_constants(net, everything, everything[:5])
    with torch.inference_mode():
        objectives = np.sort(frozen(torch.from_numpy(everything)).numpy())
    assert (np.ptp(objectives) > 20) == (reach == 100.0)
    phi = np.sort(PotentialFunction(frozen)(everything)).astype(np.float64)
    slopes = (phi[50:] - phi[:-50]) / (objectives[50:] - objectives[:-50])
    assert slopes * OBJECTIVES == pytest.approx(1.0, abs=0.12)


def test_without_a_known_start_the_potential_is_centred_on_the_data():
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(0))
    everything = np.random.default_rng(0).random((500, 128), dtype=np.float32)
    phi = PotentialFunction(freeze_constants(net, everything, np.empty((0, 128), np.float32)))
    assert abs(phi(everything).mean()) < 0.1


def test_members_differ_in_scale_before_they_are_evened_and_not_after():
    spec = SPEC.model_copy(update={"members": 3})
    net = RewardNet(spec, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        list(net.net.parameters())[-2][0] *= 20.0  # the weights of the last layer
    x = np.random.default_rng(0).random((400, 128), dtype=np.float32)
    evened = freeze_constants(net, x, np.empty((0, 128), np.float32))
    with torch.inference_mode():
        before = net.member_logits(torch.from_numpy(x)).std(dim=1)
        after = evened.member_logits(torch.from_numpy(x))
    assert before.max() / before.min() > 5
    assert after.std(dim=1).max() / after.std(dim=1).min() == pytest.approx(1.0, abs=1e-3)
    distance = (after - after.mean(dim=0)).square().mean(dim=1)
    assert distance[0] == distance.min()


def test_bags_count_relative_to_each_other(labels):
    segments = labels(episodes=4, each=6, signal=True)
    equal = np.ones((2, len(segments)), np.float32)
    half = equal.copy()
    half[1, ::2] = 0.0
    plain, doubled, uneven = (
        fitted(segments, members=2, bags=bags, epochs=3) for bags in (equal, 2 * equal, half)
    )
    assert weights_of(plain) == weights_of(doubled)
    x = torch.from_numpy(segments[0].observations)
    with torch.inference_mode():
        first, second = (net.member_logits(x) for net in (plain, uneven))
    # Members do not touch each other: only the one with the other bag differs.
    torch.testing.assert_close(first[0], second[0])
    assert not torch.allclose(first[1], second[1])


def test_a_judge_who_errs_by_five_objectives_is_outvoted(labels, walked):
    segments = walking(labels)
    assert segments[7].positions is not None
    first, last = segments[7].positions
    segments[7] = replace(segments[7], positions=(first + 5.0, last + 5.0))
    misled = fitted(segments, epochs=120, spec=REAL)
    rows = torch.from_numpy(somewhere(np.random.default_rng(1), 200))
    with torch.inference_mode():
        found, expected = misled(rows), walked(rows)
    moved = (found - found.mean()) - (expected - expected.mean())
    assert moved.abs().mean() < 0.1


@pytest.mark.parametrize("knows", [True, False])
def test_the_fit_itself_knows_that_owning_something_is_progress(labels, knows):
    """So labels that mean nothing are no placebo for it unless that knowledge is left out."""
    rng = np.random.default_rng(0)
    segments = [
        replace(item, observations=somewhere(rng, 2), positions=tuple(rng.uniform(0, 2, 2)))
        for item in labels(episodes=10, each=6, signal=False)
    ]
    net = fitted(segments, spec=REAL, epochs=60, owned=knows)
    without = somewhere(rng, 50)
    owned = without.copy()
    owned[:, slot_index("sword_level")] = 1.0 / LAYOUT[slot_index("sword_level")].scale
    with torch.inference_mode():
        before, after = (net(torch.from_numpy(rows)) for rows in (without, owned))
    rise = float((after - before).mean())
    assert rise > 0.3 if knows else abs(rise) < 0.2


def order(count, seed=0):
    return np.random.default_rng(seed).permutation(count)


@given(st.integers(1, 80), st.integers(1, 30), st.integers(0, 1000))
def test_every_segment_comes_once_in_few_batches_of_one_length(count, size, seed):
    rng = np.random.default_rng(seed)
    compared = rng.integers(0, count, (20, 2))
    compared = compared[compared[:, 0] != compared[:, 1]]
    found = list(batches(order(count, seed), compared, size))
    assert sorted(np.concatenate(found).tolist()) == list(range(count))
    lengths = [len(batch) for batch in found]
    assert len(found) == -(-count // size)
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1


def test_segments_that_were_compared_meet_in_a_batch():
    compared = np.arange(400).reshape(200, 2)
    together = [
        {a, b} <= set(batch.tolist())
        for batch in batches(order(1000), compared, 64)
        for a, b in compared.tolist()
        if a in batch
    ]
    assert len(together) == 200
    # Only the border of a batch parts some; by chance 64 of 1,000 would meet.
    assert np.mean(together) > 0.9


def test_a_segment_with_many_partners_meets_each_of_them_now_and_then():
    compared = np.array([[0, other] for other in range(1, 6)])
    met = set()
    for seed in range(60):
        joined = np.concatenate(list(batches(order(500, seed), compared, 500))).tolist()
        at = joined.index(0)
        met |= {joined[at - 1], joined[(at + 1) % 500]} & set(range(1, 6))
    assert met == set(range(1, 6))
