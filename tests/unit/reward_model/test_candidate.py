"""A candidate from labels to verdict, on a game whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.worth import WORTH_WEIGHTS, value_of_rise
from rlaif.reward_model.learning import bradley_terry, split_halves
from rlaif.reward_model.learning.candidate import split_sides, train_candidate
from rlaif.reward_model.learning.exam import ChampionToBeat, Exam
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.learning.split_halves import fit_parts
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.data.scored_segments import DIALOG_DIM, PROGRESS_DIM

# No network can beat a linear fit of the made-up game, and few labels are chance perhaps.
LINEAR_GAME = GateSettings(level=0.3, simple_margin=-1.0)
# A third of the usual passes: the same lessons, sooner.
SETTINGS = CandidateSettings(fit=FitSettings(epochs=20, members=2), gate=LINEAR_GAME)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


def test_the_share_of_pairs_that_only_judges_decide_is_told_even_before_a_fit(labels):
    few = labels(episodes=3, each=4, signal=True)
    same = [replace(i, ram={n: round(2 * v) for n, v in i.values.items()}) for i in few]
    mirrored = [replace(i, ram={n: 2 - level for n, level in i.ram.items()}) for i in same]
    shares = [trained(made).metrics.llm_only_share for made in (few, same, mirrored)]
    assert shares == [1.0, 0.0, 1.0]


def test_permuting_the_scores_leaves_the_inputs_unchanged_bit_for_bit(labels, monkeypatch):
    seen: list[bytes] = []
    real = bradley_terry.fit

    def recording(data, **settings):
        seen.append(data.ends.tobytes() + data.weights.tobytes())
        return real(data, **settings)

    monkeypatch.setattr(split_halves, "fit", recording)
    made = labels(episodes=8, each=6, signal=True)
    order = np.random.default_rng(0).permutation(len(made))
    permuted = [
        replace(item, values=made[other].values, score_sha256=made[other].score_sha256)
        for item, other in zip(made, order, strict=True)
    ]
    first, second = trained(made), trained(permuted)
    # Three fits each: all parts at once, the control's, and the candidate's.
    assert len(seen) == 6
    assert seen[:3] == seen[3:]
    assert first.label_digest != second.label_digest
    assert not second.passed


@pytest.mark.parametrize("told", [False, True], ids=["values", "positions"])
def test_a_part_is_learned_from_its_own_segments_alone(labels, told):
    made = labels(episodes=6, each=6, signal=True)
    if told:
        made = [replace(i, positions=(3.0, 3.0 + i.values["progress"])) for i in made]
    rng = np.random.default_rng(5)
    episodes = np.array([item.episode_id for item in made])
    first, second = episodes == episodes[0], episodes != episodes[0]
    changed = [
        replace(
            item,
            values={n: rng.uniform() for n in item.values},
            positions=(9.0, 1.0) if told else None,
        )
        if inside
        else item
        for item, inside in zip(made, first, strict=True)
    ]
    rows = made[0].observations
    before, after = (
        [
            PotentialFunction(net)(rows)
            for net in fit_parts(given, [first, second], SETTINGS, seed=1)
            if net is not None
        ]
        for given in (made, changed)
    )
    np.testing.assert_allclose(after[1], before[1], atol=1e-4)
    assert not np.allclose(after[0], before[0], atol=1e-2)


def test_a_part_without_a_decided_pair_has_no_network(labels):
    made = labels(episodes=4, each=6, signal=True)
    whole, nobody = np.ones(len(made), bool), np.zeros(len(made), bool)
    first, second, third = fit_parts(made, [whole, nobody, whole], SETTINGS, seed=1)
    assert second is None
    assert first is not None
    assert third is not None
    assert [net.spec.members for net in (first, third)] == [1, 1]
    assert fit_parts(made, [nobody], SETTINGS, seed=1) == [None]


class Leaking(LabelledSegment):
    """Its inputs are computed from its label, in training and in every measurement."""

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name != "observations":
            return found
        rows = np.array(found)
        rows[0, PROGRESS_DIM], rows[-1, PROGRESS_DIM] = 0.5, self.values["progress"]
        return rows


@pytest.mark.parametrize("told", [False, True], ids=["values", "positions"])
def test_labels_that_leak_into_the_inputs_fail_the_control(labels, told):
    rng = np.random.default_rng(3)
    made = []
    for item in labels(episodes=40, each=4, signal=False):
        rise = float(rng.uniform(-1, 1))
        positions = (5.0, 5.0 + rise) if told else None
        values = {**dict.fromkeys(WORTH_WEIGHTS, 0.5), "progress": value_of_rise(rise)}
        made.append(replace(item, values=values, weights=dict(WORTH_WEIGHTS), positions=positions))
    honest = trained(made)
    leaking = trained([Leaking(**vars(item)) for item in made])
    assert not any("control" in reason for reason in honest.reasons)
    assert any("control" in reason for reason in leaking.reasons), leaking.reasons


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


def test_predictions_are_probabilities_that_agree_with_the_accuracy(labels):
    made = trained(labels(episodes=8, each=8, signal=True))
    decided = [pair for pair in made.pairs if pair.side == "heldout" and pair.decided]
    right = [(pair.predicted > 0.5) == (pair.margin > 0) for pair in decided]
    assert all(0.0 < pair.predicted < 1.0 for pair in made.pairs)
    assert np.mean(right) == pytest.approx(made.metrics.heldout_accuracy)


@pytest.mark.parametrize(
    ("episodes", "each", "word"), [(1, 30, "episodes"), (2, 5, "labels"), (3, 12, "episodes")]
)
def test_too_little_data_is_refused_without_a_fit(labels, episodes, each, word):
    made = trained(labels(episodes=episodes, each=each, signal=True))
    assert made.net is None
    assert not made.passed
    assert any(word in reason for reason in made.reasons)


def test_judges_that_put_every_segment_alike_teach_nothing(labels):
    made = labels(episodes=6, each=6, signal=True)
    flat = [replace(item, values=dict.fromkeys(item.values, 0.0)) for item in made]
    found = trained(flat)
    assert found.net is None
    assert any("alike" in reason for reason in found.reasons)


def test_a_candidate_well_below_the_champion_is_refused(labels):
    made = labels(episodes=24, each=5, signal=True)
    made_dims = (PROGRESS_DIM + 1, DIALOG_DIM + 1)

    def perfect(x: np.ndarray) -> np.ndarray:
        return x[:, made_dims[0]] * 0.6 + x[:, made_dims[1]] * 0.2

    strict = replace(SETTINGS, gate=GateSettings(champion_margin=0.0, confidence=0.6))
    found = train_candidate(made, settings=strict, champion=ChampionToBeat(perfect))
    assert (found.metrics.champion_heldout_accuracy or 0) > (found.metrics.heldout_accuracy or 1)
    assert any("champion" in reason for reason in found.reasons)


def test_equal_labels_and_settings_have_one_id_others_another(labels):
    made = labels(episodes=4, each=2, signal=True)
    assert trained(made).candidate_id == trained(made).candidate_id
    assert trained(made).candidate_id != trained(made, seed=1).candidate_id
    assert trained(made).candidate_id != trained(made[:-1]).candidate_id


def scaled(net: RewardNet, factor: float, *, every_layer: bool = False) -> RewardNet:
    """The network with its last layer, or every layer, multiplied; the constants stay."""
    copy = net.with_spec(net.spec)
    last = f"net.{2 * len(net.spec.hidden)}."
    with torch.no_grad():
        for name, weights in copy.named_parameters():
            if every_layer or name.startswith(last):
                weights.mul_(factor)
    return copy


def test_a_network_is_what_its_labels_make_it_whatever_is_live(labels):
    made = labels(episodes=12, each=8, signal=True)
    first = trained(made[:64])
    assert first.net is not None
    fresh = trained(made)
    found = train_candidate(
        made, settings=SETTINGS, champion=ChampionToBeat(PotentialFunction(first.net))
    )
    assert fresh.net is not None
    assert found.net is not None
    x = made[0].observations
    assert np.array_equal(PotentialFunction(found.net)(x), PotentialFunction(fresh.net)(x))


def test_a_champion_of_the_same_recipe_proved_what_a_candidate_need_only_be_likely_to_show(labels):
    train, heldout = split_sides(labels(episodes=12, each=8, signal=True), SETTINGS)
    first = Exam.prepare(train, heldout, SETTINGS)
    net = first.take().net

    def lowest(proved: bool) -> float:
        champion = ChampionToBeat(PotentialFunction(net), proved=proved)
        simple = replace(first, champion=champion).examine(net).measurements.simple
        assert simple.gain_over_paid_ridge is not None
        return simple.gain_over_paid_ridge.low

    sure, likely = lowest(proved=False), lowest(proved=True)
    assert sure < likely
    between = LINEAR_GAME.model_copy(update={"simple_margin": (sure + likely) / 2})
    asked = replace(SETTINGS, gate=between)
    for proved in (False, True):
        champion = ChampionToBeat(PotentialFunction(net), proved=proved)
        reasons = replace(first, settings=asked, champion=champion).examine(net).reasons
        assert any("that is linear" in reason for reason in reasons) is not proved, reasons


def test_a_planted_network_meets_the_same_gate(labels):
    exam = Exam.prepare(*split_sides(labels(episodes=12, each=8, signal=True), SETTINGS), SETTINGS)
    good = exam.take()
    assert good.passed, good.reasons
    bad = exam.examine(scaled(good.net, -1.0))
    assert not bad.passed
    assert good.measurements.heldout.value is not None
    assert bad.measurements.heldout.value is not None
    assert bad.measurements.heldout.value < 0.5 < good.measurements.heldout.value
