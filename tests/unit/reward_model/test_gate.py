"""The gate refuses for a reason that it names."""

from dataclasses import replace

import pytest

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.evaluation import Accuracy, Gain
from rlaif.reward_model.learning.gate import (
    heldout_needs,
    label_needs,
    newest_quarter,
    shortcomings,
    unmet,
)
from rlaif.reward_model.learning.measurements import (
    AgainstChampion,
    AgainstSimple,
    Measurements,
)
from rlaif.reward_model.learning.responses import Farthest, Responses
from rlaif.reward_model.learning.settings import GateSettings

SIMPLE = AgainstSimple(
    slot=Accuracy(0.6, None, None, 200),
    slot_name="rise of rupees",
    ridge=Accuracy(0.6, None, None, 200),
    gain_over_slot=Gain(0.1, 0.04, 0.2),
    gain_over_ridge=Gain(0.1, 0.04, 0.2),
    gain_over_paid_slot=Gain(0.1, 0.04, 0.2),
    gain_over_paid_ridge=Gain(0.1, 0.04, 0.2),
)
ONE = Farthest("room 0x1", 1.0)
ALIKE = Responses(apart=ONE, apart_once=ONE, member=ONE, weight=ONE, least_thing=0.1)
GOOD = Measurements(
    heldout=Accuracy(0.75, None, None, 60),
    heldout_episodes=3,
    train=Accuracy(0.9, None, None, 200),
    newest=Accuracy(0.7, None, None, 30),
    crossfit=Accuracy(0.7, 0.6, None, 200),
    simple=SIMPLE,
    permutation_p=1e-6,
    permutation_level=1e-4,
    over_refit=Gain(0.0, -0.05, 0.05),
    forward=Accuracy(0.7, None, None, 60),
    backward=Accuracy(0.7, None, None, 60),
    champion=AgainstChampion(accuracy=0.7),
    responses=ALIKE,
)
SETTINGS = GateSettings()


def test_a_good_candidate_passes():
    needs = (*label_needs(40, 6, SETTINGS), *heldout_needs(GOOD, SETTINGS))
    assert unmet(needs) == ()
    assert shortcomings(GOOD, SETTINGS) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"crossfit": Accuracy(0.7, 0.5, None, 200)}, "above chance"),
        ({"heldout": Accuracy(0.54, None, None, 60)}, "is below"),
        ({"champion": AgainstChampion(0.81)}, "champion"),
        ({"newest": Accuracy(0.45, None, None, 30)}, "newest"),
        ({"heldout": Accuracy(None, None, None, 60)}, "no held-out accuracy"),
    ],
)
def test_each_shortcoming_is_named(change, word):
    reasons = shortcomings(replace(GOOD, **change), SETTINGS)
    assert any(word in reason for reason in reasons)


def test_a_champion_a_little_better_does_not_block_a_fresher_candidate():
    assert shortcomings(replace(GOOD, champion=AgainstChampion(0.79)), SETTINGS) == []


@pytest.mark.parametrize(("gain_high", "passes"), [(0.02, True), (-0.02, False)])
def test_a_champion_much_better_blocks_only_when_that_is_no_luck(gain_high, passes):
    gain = Gain(-0.15, -0.3, gain_high)
    measured = replace(GOOD, champion=AgainstChampion(0.9, gain))
    assert (shortcomings(measured, SETTINGS) == []) is passes


def test_few_new_pairs_decide_nothing():
    few = replace(GOOD, newest=Accuracy(0.3, None, None, 5))
    assert shortcomings(few, SETTINGS) == []


def test_each_lack_of_data_is_named():
    known = Measurements(heldout=Accuracy(None, None, None, 19), heldout_episodes=1)
    reasons = unmet((*label_needs(23, 3, SETTINGS), *heldout_needs(known, SETTINGS)))
    assert [reason.split(",")[0] for reason in reasons] == [
        "23 labels",
        "3 episodes",
        "1 held-out episodes",
        "19 decided held-out pairs",
    ]


def test_the_newest_quarter_is_never_empty():
    assert newest_quarter([5]) == 5
    assert newest_quarter([1, 2, 3, 4, 5, 6, 7, 8]) == 7


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"forward": Accuracy(0.45, None, None, 30)}, "what comes next"),
        ({"control": Accuracy(0.7, 0.55, None, 60)}, "leak"),
        ({"backward": Accuracy(0.45, None, None, 30)}, "what came before"),
        ({"backward": Accuracy(0.4, 0.3, 0.54, 30)}, "what came before"),
        ({"forward": Accuracy(0.54, None, None, 30)}, "what comes next"),
        ({"over_refit": Gain(-0.1, -0.2, -0.03)}, "did not learn"),
        ({"permutation_p": 2e-4}, "may be chance"),
        ({"ram": Accuracy(0.3, 0.2, 0.45, 80)}, "RAM"),
        ({"responses": replace(ALIKE, apart=Farthest("room 0x1", 2.1))}, "room 0x1"),
        ({"responses": replace(ALIKE, apart_once=Farthest("counts", 2.4))}, "one probe of counts"),
        ({"responses": replace(ALIKE, member=Farthest("member 3", 2.6))}, "member 3"),
        ({"responses": replace(ALIKE, weight=Farthest("net.0.bias", 5.0))}, "trigger"),
        ({"responses": replace(ALIKE, least_thing=-0.1, lowered=("boss_key",))}, "owning boss_key"),
        ({"simple": replace(SIMPLE, gain_over_slot=Gain(0.1, -0.01, 0.2))}, "rise of rupees"),
        ({"simple": replace(SIMPLE, gain_over_ridge=Gain(0.1, -0.01, 0.2))}, "linear fit"),
        ({"simple": replace(SIMPLE, gain_over_paid_slot=Gain(0.1, 0.005, 0.2))}, "rises with"),
        ({"simple": replace(SIMPLE, gain_over_paid_ridge=Gain(0.1, 0.005, 0.2))}, "is linear"),
        ({"heldout_ece": 0.4}, "probabilities"),
        ({"champion": AgainstChampion(0.76, probe_correlation=0.1)}, "probes"),
    ],
)
def test_each_piece_of_evidence_can_refuse(change, word):
    reasons = shortcomings(replace(GOOD, **change), SETTINGS)
    assert any(word in reason for reason in reasons)


def test_another_ranking_of_the_probes_is_fine_when_it_is_a_better_one():
    measured = replace(GOOD, champion=AgainstChampion(0.6, probe_correlation=0.1))
    assert shortcomings(measured, SETTINGS) == []


def test_oldest_episodes_that_perhaps_agree_do_not_refuse():
    """A policy's first steps, a few half screens each, are soon no longer where it plays."""
    measured = replace(GOOD, backward=Accuracy(0.5, 0.35, 0.65, 60))
    assert shortcomings(measured, SETTINGS) == []


def test_a_control_near_chance_says_that_nothing_leaks():
    measured = replace(GOOD, control=Accuracy(0.56, 0.45, None, 60))
    assert shortcomings(measured, SETTINGS) == []


def test_measurements_become_the_flat_record_field_by_field():
    """Every field of the record has a block of its own, so none can be mixed up or forgotten."""
    old = {"folds_accuracy_low"}
    figures = {name: 0.01 * at for at, name in enumerate(GateMetrics.model_fields)}
    pairs = {name: at for at, name in enumerate(GateMetrics.model_fields)}

    def block(name: str, pairs_name: str = "") -> Accuracy:
        return Accuracy(
            figures.get(name),
            figures.get(f"{name}_low"),
            figures.get(f"{name}_high"),
            pairs.get(pairs_name, 0),
        )

    def gain(name: str) -> Gain:
        return Gain(0.0, figures.get(f"{name}_low", 0.0), figures.get(f"{name}_high", 0.0))

    flat = Measurements(
        heldout=block("heldout_accuracy", "heldout_pairs"),
        heldout_episodes=pairs["heldout_episodes"],
        train=block("train_accuracy"),
        newest=block("newest_heldout_accuracy", "newest_heldout_pairs"),
        crossfit=block("crossfit_accuracy", "crossfit_pairs"),
        simple=AgainstSimple(
            slot=block("best_slot_accuracy"),
            slot_name="rise of rupees",
            ridge=block("ridge_accuracy"),
            gain_over_slot=gain("gain_over_slot"),
            gain_over_ridge=gain("gain_over_ridge"),
            gain_over_paid_slot=gain("gain_over_paid_slot"),
            gain_over_paid_ridge=gain("gain_over_paid_ridge"),
        ),
        permutation_p=figures["permutation_p"],
        permutation_level=figures["permutation_level"],
        over_refit=gain("refit_gain"),
        forward=block("forward_accuracy", "forward_pairs"),
        backward=block("backward_accuracy"),
        control=block("control_accuracy"),
        ram=block("ram_accuracy", "ram_pairs"),
        champion=AgainstChampion(
            figures["champion_heldout_accuracy"],
            gain("champion_gain"),
            figures["probe_correlation"],
        ),
        heldout_nll=figures["heldout_nll"],
        heldout_ece=figures["heldout_ece"],
        disagreement=figures["disagreement"],
        largest_potential=figures["largest_potential"],
        responses=Responses(
            apart=Farthest("room", figures["probes_apart"]),
            apart_once=Farthest("room", figures["probes_apart_once"]),
            member=Farthest("member", figures["member_apart"]),
            weight=Farthest("layer", figures["weight_ratio"]),
            least_thing=figures["least_thing"],
        ),
        llm_only_share=figures["llm_only_share"],
    ).flat()
    # What the trainer pays is what is compared, so the two are one figure.
    same = {"paid_accuracy": "heldout_accuracy", "paid_accuracy_low": "heldout_accuracy_low"}
    for name, value in flat.model_dump().items():
        if name in old | {"best_slot", "llm_only_share"}:
            continue
        whole = name.endswith(("_pairs", "_episodes"))
        assert value == (pairs[name] if whole else figures[same.get(name, name)]), name
