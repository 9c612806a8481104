"""A candidate from labels to verdict, on a game whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.fit import bradley_terry
from rlaif.reward_model.learning.fit.bradley_terry import fit_parts, fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.gate.checks import failed
from rlaif.reward_model.learning.gate.crossfit import cross_fit
from rlaif.reward_model.learning.gate.folds import make_folds
from rlaif.reward_model.learning.gate.measuring import Examination
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.learning.training import train_candidate
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.data.judging.scored_segments import DIALOG_DIM, PROGRESS_DIM

# No network outranks a linear fit of the made-up game.
LINEAR_GAME = GateSettings(simple_margin=-1.0)
# A third of the usual passes: the same lessons, sooner.
SETTINGS = CandidateSettings(fit=FitSettings(epochs=20, members=2), gate=LINEAR_GAME)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def side_of(segments) -> Side:
    return Side("all", segments, PairTable(segments), [])


def names(candidate: Candidate) -> set[str]:
    return {check.name for check in failed(candidate.checks)}


def trained(labels, **changes):
    return train_candidate(labels, settings=replace(SETTINGS, **changes))


def test_a_signal_is_ranked_above_chance_on_episodes_that_were_never_seen(labels):
    made = trained(labels(episodes=12, each=8, signal=True), fit=FitSettings())
    assert made.passed, made.reasons
    assert made.metrics.heldout_accuracy > 0.65
    assert made.metrics.crossfit_accuracy_low > 0.5
    assert made.metrics.heldout_episodes >= 2


def test_noise_is_ranked_at_chance_and_refused(labels):
    verdicts = [trained(labels(episodes=8, each=6, signal=False, seed=s)) for s in range(6)]
    covered = [
        item.metrics.heldout_accuracy_low <= 0.5 <= item.metrics.heldout_accuracy_high
        for item in verdicts
    ]
    # Each one-sided end fails one time in twenty by construction.
    assert sum(covered) >= 5
    assert sum(item.passed for item in verdicts) <= 1
    assert np.mean([item.metrics.heldout_accuracy for item in verdicts]) == pytest.approx(
        0.5, abs=0.12
    )
    # It learned the noise by heart, which only held-out episodes can show.
    assert np.mean([item.metrics.train_accuracy for item in verdicts]) > 0.65


def test_permuting_the_scores_leaves_the_inputs_unchanged_bit_for_bit(labels, monkeypatch):
    seen: list[bytes] = []
    real = bradley_terry.fit

    def recording(side, weights, **settings):
        seen.append(side.ends.tobytes() + weights.tobytes())
        return real(side, weights, **settings)

    monkeypatch.setattr(bradley_terry, "fit", recording)
    made = labels(episodes=8, each=6, signal=True)
    order = np.random.default_rng(0).permutation(len(made))
    permuted = [
        replace(item, values=made[other].values, score_sha256=made[other].score_sha256)
        for item, other in zip(made, order, strict=True)
    ]
    first, second = trained(made), trained(permuted)
    # Two fits each: all parts at once, and the candidate's.
    assert len(seen) == 4
    assert seen[:2] == seen[2:]
    assert first.label_digest != second.label_digest
    assert not second.passed


@pytest.mark.parametrize("reported", [False, True], ids=["values", "positions"])
def test_a_part_is_learned_from_its_own_segments_alone(labels, reported):
    made = labels(episodes=6, each=6, signal=True)
    if reported:
        made = [replace(i, positions=(3.0, 3.0 + i.values["progress"])) for i in made]
    rng = np.random.default_rng(5)
    episodes = np.array([item.episode_id for item in made])
    first, second = episodes == episodes[0], episodes != episodes[0]
    changed = [
        replace(
            item,
            values={n: rng.uniform() for n in item.values},
            positions=(9.0, 1.0) if reported else None,
        )
        if inside
        else item
        for item, inside in zip(made, first, strict=True)
    ]
    rows = made[0].observations
    before, after = (
        [
            PotentialFunction(net)(rows)
            for net in fit_parts(side_of(given), [first, second], SETTINGS, seed=1)
            if net is not None
        ]
        for given in (made, changed)
    )
    np.testing.assert_allclose(after[1], before[1], atol=1e-4)
    assert not np.allclose(after[0], before[0], atol=1e-2)


def test_a_part_without_a_decided_pair_has_no_network(labels):
    made = labels(episodes=4, each=6, signal=True)
    whole, nobody = np.ones(len(made), bool), np.zeros(len(made), bool)
    first, second, third = fit_parts(side_of(made), [whole, nobody, whole], SETTINGS, seed=1)
    assert second is None
    assert first is not None
    assert third is not None
    assert [net.spec.members for net in (first, third)] == [1, 1]
    assert fit_parts(side_of(made), [nobody], SETTINGS, seed=1) == [None]


def test_the_order_of_the_labels_has_no_influence(labels):
    made = labels(episodes=6, each=6, signal=True)
    first, second = trained(made), trained(made[::-1])
    assert first.metrics == second.metrics
    assert first.pairs == second.pairs
    assert first.candidate_id == second.candidate_id
    x = made[0].observations
    assert np.array_equal(PotentialFunction(first.net)(x), PotentialFunction(second.net)(x))


def test_no_pair_crosses_the_split_and_no_heldout_segment_teaches(labels):
    made = labels(episodes=6, each=6, signal=True)
    episode_of = {item.segment_id: item.episode_id for item in made}
    sides: dict[str, set[str]] = {"train": set(), "heldout": set()}
    for pair in trained(made).pairs:
        sides[pair.side] |= {episode_of[pair.a], episode_of[pair.b]}
    assert sides["train"]
    assert sides["heldout"]
    assert not sides["train"] & sides["heldout"]


@pytest.mark.parametrize(
    ("episodes", "each", "word"), [(1, 30, "episodes"), (2, 5, "labels"), (3, 12, "episodes")]
)
def test_too_little_data_is_refused_without_a_fit(labels, episodes, each, word):
    made = trained(labels(episodes=episodes, each=each, signal=True))
    assert made.net is None
    assert not made.passed
    assert word in names(made)


def test_labels_of_the_same_play_count_once(labels):
    once = labels(episodes=5, each=4, signal=True)
    again = [replace(each, segment_id=f"again-{each.segment_id}") for each in once]
    refused = {check.name: check.sentence for check in failed(trained(once + again).checks)}
    assert "without near-duplicate segments: 20, must be >= 24" in refused["labels"]


def test_judges_that_give_every_segment_the_same_score_teach_nothing(labels):
    made = labels(episodes=6, each=6, signal=True)
    found = trained([replace(item, values=dict.fromkeys(item.values, 0.0)) for item in made])
    assert found.net is None
    assert "train_pairs" in names(found)


def test_a_candidate_is_compared_with_the_champion(labels):
    made = labels(episodes=24, each=5, signal=True)
    made_dims = (PROGRESS_DIM + 1, DIALOG_DIM + 1)

    def perfect(x: np.ndarray) -> np.ndarray:
        return x[:, made_dims[0]] * 0.6 + x[:, made_dims[1]] * 0.2

    found = train_candidate(made, settings=SETTINGS, champion=perfect)
    assert (found.metrics.champion_heldout_accuracy or 0) > (found.metrics.heldout_accuracy or 1)
    gain = next(check for check in found.checks if check.name == "champion_gain")
    assert gain.value is not None
    assert gain.value < 0


def scaled(net: RewardNet, factor: float) -> RewardNet:
    """The network with its last layer multiplied; the constants stay."""
    copy = net.with_spec(net.spec)
    last = f"net.{2 * len(net.spec.hidden)}."
    with torch.no_grad():
        for name, weights in copy.named_parameters():
            if name.startswith(last):
                weights.mul_(factor)
    return copy


def test_a_network_is_what_its_labels_make_it_whatever_is_live(labels):
    made = labels(episodes=12, each=8, signal=True)
    first = trained(made[:64])
    assert first.net is not None
    fresh = trained(made)
    found = train_candidate(made, settings=SETTINGS, champion=PotentialFunction(first.net))
    assert fresh.net is not None
    assert found.net is not None
    x = made[0].observations
    assert np.array_equal(PotentialFunction(found.net)(x), PotentialFunction(fresh.net)(x))


def test_a_fitted_candidate_measures_all_checks(labels):
    made = labels(episodes=24, each=8, signal=True)
    made = [replace(i, ram={"progress": 2 * (i.values["progress"] > 0.5)}) for i in made]
    first = trained(made[:96])
    assert first.net is not None
    found = train_candidate(made, settings=SETTINGS, champion=PotentialFunction(first.net))
    assert [check.name for check in found.checks if check.measured is None] == []
    assert [check.name for check in found.checks if (check.n or 0) < check.needs_n] == []


def test_any_network_meets_the_same_gate(labels):
    train, heldout = split_sides(labels(episodes=12, each=8, signal=True), SETTINGS)
    folds = cross_fit(make_folds(train, heldout, SETTINGS), train, SETTINGS)
    exam = Examination(train, heldout, folds, GateMetrics(), SETTINGS.seed)
    net = exam.calibrated(fit_side(train, SETTINGS))
    good, checks = exam.examine(net, SETTINGS)
    assert failed(checks) == ()
    _, checks = exam.examine(scaled(net, float("nan")), SETTINGS)
    assert [check.name for check in failed(checks)] == ["network_finite"]
    bad, checks = exam.examine(scaled(net, -1.0), SETTINGS)
    assert "heldout_accuracy" in {check.name for check in failed(checks)}
    assert bad.heldout_accuracy is not None
    assert good.heldout_accuracy is not None
    assert bad.heldout_accuracy < 0.5 < good.heldout_accuracy
