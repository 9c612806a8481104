"""The gate's table says what the gate decides."""

from dataclasses import replace

import pytest

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.evaluation import Accuracy, Gain
from rlaif.reward_model.learning.gate import shortcomings
from rlaif.reward_model.learning.gate_table import gate_table
from rlaif.reward_model.learning.measurements import AgainstChampion, AgainstSimple, Measurements
from rlaif.reward_model.learning.responses import Farthest, Responses
from rlaif.reward_model.learning.settings import GateSettings

SETTINGS = GateSettings()
GAIN = Gain(0.1, 0.04, 0.2)
SIMPLE = AgainstSimple(
    slot=Accuracy(0.6, 0.5, 0.7, 200),
    slot_name="rupees",
    ridge=Accuracy(0.6, 0.5, 0.7, 200),
    gain_over_slot=GAIN,
    gain_over_ridge=GAIN,
    gain_over_paid_slot=GAIN,
    gain_over_paid_ridge=GAIN,
)
ONE = Farthest("room 0x1", 1.0)
ALIKE = Responses(apart=ONE, apart_once=ONE, member=ONE, weight=ONE, least_thing=0.1)
GOOD = Measurements(
    heldout=Accuracy(0.75, 0.6, 0.9, 60),
    heldout_episodes=5,
    newest=Accuracy(0.7, 0.5, 0.9, 30),
    crossfit=Accuracy(0.7, 0.6, 0.8, 200),
    simple=SIMPLE,
    permutation_p=1e-6,
    permutation_level=1e-4,
    over_refit=Gain(0.0, -0.05, 0.05),
    forward=Accuracy(0.7, 0.6, 0.8, 60),
    backward=Accuracy(0.7, 0.6, 0.8, 60),
    control=Accuracy(0.5, 0.4, 0.6, 60),
    ram=Accuracy(0.8, 0.6, 0.9, 60),
    champion=AgainstChampion(0.7, GAIN, probe_correlation=0.9),
    heldout_ece=0.05,
    responses=ALIKE,
)


def refused(measured: Measurements) -> set[str]:
    """Checks that do not hold, by name."""
    return {each.name for each in gate_table(measured.flat(), SETTINGS) if each.holds is False}


def test_of_a_good_candidate_every_check_holds() -> None:
    assert shortcomings(GOOD, SETTINGS) == []
    assert {each.name for each in gate_table(GOOD.flat(), SETTINGS) if not each.holds} == set()


def far(ratio: float) -> Farthest:
    return Farthest("room 0x1", ratio)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"heldout": Accuracy(0.54, 0.4, 0.7, 60), "champion": None}, "heldout_accuracy"),
        ({"crossfit": Accuracy(0.7, 0.5, 0.9, 200)}, "crossfit_accuracy"),
        ({"permutation_p": 2e-4}, "permutation_p"),
        ({"control": Accuracy(0.7, 0.55, 0.8, 60)}, "control_accuracy"),
        ({"over_refit": Gain(-0.1, -0.2, -0.03)}, "refit_gain"),
        ({"newest": Accuracy(0.45, 0.3, 0.6, 30)}, "newest_heldout_accuracy"),
        ({"simple": replace(SIMPLE, gain_over_slot=Gain(0.1, -0.01, 0.2))}, "gain_over_slot"),
        ({"simple": replace(SIMPLE, gain_over_ridge=Gain(0.1, 0.0, 0.2))}, "gain_over_ridge"),
        (
            {"simple": replace(SIMPLE, gain_over_paid_slot=Gain(0.1, 0.005, 0.2))},
            "gain_over_paid_slot",
        ),
        (
            {"simple": replace(SIMPLE, gain_over_paid_ridge=Gain(0.1, 0.01, 0.2))},
            "gain_over_paid_ridge",
        ),
        ({"forward": Accuracy(0.54, 0.4, 0.6, 30)}, "forward_accuracy"),
        (
            {"champion": AgainstChampion(0.9, Gain(-0.15, -0.3, -0.02), 0.9)},
            "champion_heldout_accuracy",
        ),
        ({"champion": AgainstChampion(0.76, GAIN, probe_correlation=0.1)}, "probe_correlation"),
        ({"heldout_ece": 0.4}, "heldout_ece"),
        ({"responses": replace(ALIKE, apart=far(2.1))}, "probes_apart"),
        ({"responses": replace(ALIKE, apart_once=far(2.4))}, "probes_apart_once"),
        ({"responses": replace(ALIKE, member=far(2.6))}, "member_apart"),
        ({"responses": replace(ALIKE, weight=far(5.0))}, "weight_ratio"),
        (
            {"responses": replace(ALIKE, least_thing=-0.1, lowered=("boss_key",))},
            "least_thing",
        ),
    ],
)
def test_what_the_gate_refuses_for_is_the_one_check_that_does_not_hold(change, name) -> None:
    measured = replace(GOOD, **change)
    assert len(shortcomings(measured, SETTINGS)) == 1
    assert refused(measured) == {name}


@pytest.mark.parametrize(
    "change",
    [
        {"newest": Accuracy(0.3, 0.1, 0.5, 5)},
        {"champion": AgainstChampion(0.9, Gain(-0.15, -0.3, 0.02), 0.9)},
        {"champion": AgainstChampion(0.7, GAIN, probe_correlation=0.1)},
        {"champion": None},
        {"backward": Accuracy(0.45, 0.3, 0.6, 30)},
        {"ram": Accuracy(0.45, 0.3, 0.6, 60)},
        {"responses": None},
    ],
)
def test_what_the_gate_lets_pass_no_check_refuses(change) -> None:
    measured = replace(GOOD, **change)
    assert shortcomings(measured, SETTINGS) == []
    assert refused(measured) == set()


def test_a_number_beyond_its_bound_that_is_let_pass_says_why() -> None:
    for champion, name in (
        (AgainstChampion(0.9, Gain(-0.15, -0.3, 0.02), 0.9), "champion_heldout_accuracy"),
        (AgainstChampion(0.7, GAIN, probe_correlation=0.1), "probe_correlation"),
    ):
        table = gate_table(replace(GOOD, champion=champion).flat(), SETTINGS)
        assert [check.name for check in table if check.note] == [name]


def test_what_the_record_cannot_repeat_has_no_verdict() -> None:
    # Below its bound only the upper end decides, which the record does not keep.
    for measured, name in (
        (replace(GOOD, backward=Accuracy(0.4, 0.3, 0.54, 30)), "backward_accuracy"),
        (replace(GOOD, ram=Accuracy(0.3, 0.2, 0.45, 80)), "ram_accuracy"),
    ):
        table = {each.name: each for each in gate_table(measured.flat(), SETTINGS)}
        assert table[name].holds is None
        assert table[name].value is not None


def test_of_nothing_measured_nothing_is_said() -> None:
    assert {each.holds for each in gate_table(GateMetrics(), SETTINGS)} == {None}
