"""The gate rejects a candidate for named checks, and renders each check everywhere alike."""

import pytest

from rlaif.contracts.reward_models import GateMetrics, Slope
from rlaif.reward_model.learning.gate.checks import (
    failed,
    gate_checks,
    heldout_checks,
    label_checks,
)
from rlaif.reward_model.learning.settings import GateSettings

SETTINGS = GateSettings()
GOOD = GateMetrics(
    heldout_accuracy=0.75,
    heldout_accuracy_low=0.6,
    heldout_accuracy_high=0.85,
    heldout_pairs=60,
    heldout_episodes=3,
    crossfit_accuracy=0.7,
    crossfit_accuracy_low=0.6,
    crossfit_pairs=200,
    permutation_p=1e-6,
    best_slot="rise of rupees",
    gain_over_slot_low=0.04,
    gain_over_ridge_low=0.04,
    forward_accuracy=0.7,
    forward_pairs=60,
    heldout_ece=0.1,
    ram_accuracy=0.6,
    ram_accuracy_high=0.7,
    ram_pairs=80,
    champion_heldout_accuracy=0.7,
    champion_gain_high=0.1,
)


def rejected_by(**changes) -> list[str]:
    metrics = GOOD.model_copy(update=changes)
    checks = (*heldout_checks(metrics), *gate_checks(metrics, SETTINGS))
    return [check.name for check in failed(checks)]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"heldout_accuracy": 0.54}, "heldout_accuracy"),
        ({"heldout_pairs": 19}, "heldout_pairs"),
        ({"heldout_episodes": 1}, "heldout_episodes"),
        ({"crossfit_accuracy_low": 0.5}, "crossfit_accuracy"),
        ({"crossfit_accuracy_low": None, "crossfit_pairs": 0}, "crossfit_accuracy"),
        ({"permutation_p": 2e-3}, "permutation_p"),
        ({"permutation_p": None}, "permutation_p"),
        ({"gain_over_slot_low": -0.01}, "gain_over_slot"),
        ({"gain_over_ridge_low": 0.0}, "gain_over_ridge"),
        ({"forward_accuracy": 0.54}, "forward_accuracy"),
        ({"heldout_ece": 0.4}, "heldout_ece"),
        ({"heldout_ece": float("nan")}, "heldout_ece"),
        ({"ram_accuracy": 0.3, "ram_accuracy_high": 0.45}, "ram_accuracy"),
        ({"champion_heldout_accuracy": 0.81, "champion_gain_high": -0.01}, "champion_gain"),
        ({"champion_heldout_accuracy": 0.81, "champion_gain_high": None}, "champion_gain"),
    ],
)
def test_each_check_rejects_by_its_name(changes, name):
    assert rejected_by(**changes) == [name]


@pytest.mark.parametrize(
    ("high", "segments", "rejects"), [(0.24, 6, True), (0.24, 5, False), (0.3, 200, False)]
)
def test_progress_has_to_be_rewarded_at_every_stage(high, segments, rejects):
    steep = Slope(stage="early", kind="reached", value=0.9, high=1.1, segments=40)
    flat = Slope(stage="late", kind="walked", value=0.1, high=high, segments=segments)
    assert rejected_by(slopes=(steep, flat)) == ["slope_late_walked"] * rejects


@pytest.mark.parametrize(
    ("champion", "low", "rejects"), [(0.7, -0.01, True), (0.7, 0.02, False), (None, None, False)]
)
def test_with_one_model_per_run_a_candidate_has_to_be_better_for_certain(champion, low, rejects):
    """The first one has nothing to be better than."""
    metrics = GOOD.model_copy(
        update={"champion_heldout_accuracy": champion, "champion_gain_low": low}
    )
    checks = gate_checks(metrics, GateSettings(must_improve=True))
    assert [check.name for check in failed(checks)] == ["champion_improved"] * rejects
    assert failed(gate_checks(metrics, GateSettings())) == (), "else it may be as good"


@pytest.mark.parametrize(
    "changes",
    [
        {"champion_heldout_accuracy": 0.79, "champion_gain_high": -0.01},
        {"champion_heldout_accuracy": 0.9, "champion_gain_high": 0.02},
        {"ram_accuracy": 0.3, "ram_accuracy_high": 0.45, "ram_pairs": 19},
        {"ram_accuracy": 0.3, "ram_accuracy_high": 0.51},
        {"forward_accuracy": 0.3, "forward_pairs": 5},
    ],
    ids=["a little worse", "worse by chance", "few RAM pairs", "perhaps half", "few new pairs"],
)
def test_what_is_uncertain_does_not_reject(changes):
    assert rejected_by(**changes) == []


def test_each_lack_of_data_is_named():
    checks = label_checks(23, 3, SETTINGS)
    assert [(check.name, check.value, check.bound) for check in failed(checks)] == [
        ("labels", 23, 24),
        ("episodes", 3, 4),
    ]


def test_a_margin_of_minus_one_turns_the_baselines_off():
    metrics = GOOD.model_copy(update={"gain_over_slot_low": -0.5, "gain_over_ridge_low": -0.5})
    assert failed(gate_checks(metrics, GateSettings(simple_margin=-1.0))) == ()


def test_the_rows_are_renderings_of_the_same_checks():
    for check in gate_checks(GOOD, SETTINGS):
        row = check.row()
        assert (row.name, row.what, row.holds) == (check.name, check.question, check.holds)
        assert getattr(row, row.compared) == check.measured
    row = {check.name: check.row() for check in gate_checks(GOOD, SETTINGS)}["crossfit_accuracy"]
    assert (row.compared, row.relation, row.bound, row.count, row.of) == (
        "low", ">", 0.5, 200, "pairs"
    )  # fmt: skip


def test_a_required_check_that_was_not_measured_rejects():
    assert [check.name for check in failed(gate_checks(GateMetrics(), SETTINGS))] == [
        "heldout_accuracy", "crossfit_accuracy", "permutation_p", "gain_over_slot",
        "gain_over_ridge", "heldout_ece",
    ]  # fmt: skip
