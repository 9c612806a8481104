"""What the gate asks and what it measured, check by check: `gate.py` as a table for people.

The gate decides on `Measurements` and says in sentences why it refuses; this reads the flat record
that a manifest keeps of them. A test holds the two against each other. Where the record tells too
little to repeat a decision, `holds` is None.
"""

from rlaif.contracts.reward_model_rest import GateCheck
from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.gate import (
    LEAST_OVER_TIME,
    MIN_ACCURACY,
    MOST_BELOW_A_REFIT,
)
from rlaif.reward_model.learning.responses import (
    LEAST_GAIN_OF_A_THING,
    MEMBER_APART,
    MOST_APART,
    MOST_APART_ONCE,
    MOST_WEIGHT,
)
from rlaif.reward_model.learning.settings import GateSettings


def gate_table(metrics: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    """Every check of the gate, in its order."""
    return (
        *_against_chance(metrics, settings),
        *_against_simple(metrics, settings),
        *_over_time(metrics, settings),
        *_against_others(metrics, settings),
        *_calibration(metrics, settings),
        *_responses(metrics),
    )


def _check(check: GateCheck, *, enough: bool = True) -> GateCheck:
    """The check with its verdict; none without a number, a bound, or `enough` to measure on."""
    found = {"value": check.value, "low": check.low, "high": check.high}[check.compared]
    if found is None or check.bound is None or not enough:
        return check
    holds = {
        ">=": found >= check.bound,
        ">": found > check.bound,
        "<=": found <= check.bound,
    }[check.relation]
    return check.model_copy(update={"holds": holds})


def _against_chance(m: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    return (
        _check(
            GateCheck(
                name="heldout_accuracy",
                what="held-out pairs, ranked by what it pays",
                value=m.heldout_accuracy,
                low=m.heldout_accuracy_low,
                high=m.heldout_accuracy_high,
                count=m.heldout_pairs,
                of="pairs",
                bound=MIN_ACCURACY,
            )
        ),
        _check(
            GateCheck(
                name="crossfit_accuracy",
                what="each episode ranked by networks of the others",
                value=m.crossfit_accuracy,
                low=m.crossfit_accuracy_low,
                count=m.crossfit_pairs,
                of="pairs",
                compared="low",
                relation=">",
                bound=0.5,
            )
        ),
        _check(
            GateCheck(
                name="permutation_p",
                what="probability of such labels by chance",
                value=m.permutation_p,
                relation="<=",
                bound=m.permutation_level,
            )
        ),
        _check(
            GateCheck(
                name="control_accuracy",
                what="control: the same recipe on shuffled labels, lower end",
                value=m.control_accuracy,
                low=m.control_accuracy_low,
                compared="low",
                relation="<=",
                bound=0.5,
            )
        ),
        _check(
            GateCheck(
                name="refit_gain",
                what="more accurate than another fit to the same labels, upper end",
                high=m.refit_gain_high,
                compared="high",
                bound=-MOST_BELOW_A_REFIT,
            )
        ),
        _check(
            GateCheck(
                name="newest_heldout_accuracy",
                what="held-out pairs with a newest segment",
                value=m.newest_heldout_accuracy,
                count=m.newest_heldout_pairs,
                of="pairs",
                bound=0.5,
            ),
            enough=m.newest_heldout_pairs >= settings.min_heldout_pairs,
        ),
    )


def _against_simple(m: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    """More accurate than simple judges, by the lower ends."""
    named = f" ({m.best_slot})" if m.best_slot else ""
    least = min(0.0, settings.simple_margin)
    gains = (
        ("gain_over_slot", f"more accurate than the best single number{named}", least),
        ("gain_over_ridge", "more accurate than a line through all numbers", least),
        (
            "gain_over_paid_slot",
            "more accurate than the best number as a potential",
            settings.simple_margin,
        ),
        ("gain_over_paid_ridge", "more accurate than a linear potential", settings.simple_margin),
    )
    return tuple(
        _check(
            GateCheck(
                name=name,
                what=f"{what}, lower end",
                low=getattr(m, f"{name}_low"),
                compared="low",
                relation=">",
                bound=bound,
            )
        )
        for name, what, bound in gains
    )


def _over_time(m: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    least = 0.5 + LEAST_OVER_TIME * max(0.0, (m.crossfit_accuracy or 0.5) - 0.5)
    backward = _check(
        GateCheck(
            name="backward_accuracy",
            what="oldest episodes, from newer ones",
            value=m.backward_accuracy,
            bound=least,
        )
    )
    return (
        _check(
            GateCheck(
                name="forward_accuracy",
                what="newest episodes, from older ones",
                value=m.forward_accuracy,
                low=m.forward_accuracy_low,
                high=m.forward_accuracy_high,
                count=m.forward_pairs,
                of="pairs",
                bound=least,
            ),
            enough=m.forward_pairs >= settings.min_heldout_pairs,
        ),
        _unless_sure(backward),
    )


def _unless_sure(check: GateCheck) -> GateCheck:
    """Where the upper end decides, and the record has none: below the bound nothing is known."""
    return check if check.holds else check.model_copy(update={"holds": None})


def _all_the_same(check: GateCheck, note: str) -> GateCheck:
    return check.model_copy(update={"holds": True, "note": note})


def _against_others(m: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    champion = m.champion_heldout_accuracy
    bound = None if champion is None else champion - settings.champion_margin
    beside = _check(
        GateCheck(
            name="champion_heldout_accuracy",
            what="against the champion on the same pairs, its margin taken off",
            value=m.heldout_accuracy,
            bound=bound,
        )
    )
    if beside.holds is False and m.champion_gain_high is not None and m.champion_gain_high >= 0:
        beside = _all_the_same(beside, "it falls short, and not surely: by chance it may be better")
    ram = _check(
        GateCheck(
            name="ram_accuracy",
            what="held-out pairs that the game's memory tells apart",
            value=m.ram_accuracy,
            count=m.ram_pairs,
            of="pairs",
            bound=0.5,
        ),
        enough=m.ram_pairs >= settings.min_heldout_pairs,
    )
    alike = _check(
        GateCheck(
            name="probe_correlation",
            what="ranks observations as the champion does, or is better",
            value=m.probe_correlation,
            bound=settings.min_probe_correlation,
        )
    )
    if alike.holds is False and (m.heldout_accuracy or 0.0) > (champion or 0.0):
        alike = _all_the_same(alike, "it ranks otherwise, and more pairs right")
    return (_unless_sure(ram), beside, alike)


def _calibration(m: GateMetrics, settings: GateSettings) -> tuple[GateCheck, ...]:
    return (
        _check(
            GateCheck(
                name="heldout_ece",
                what="calibration error of its probabilities",
                value=m.heldout_ece,
                count=m.heldout_pairs,
                of="pairs",
                relation="<=",
                bound=settings.max_ece,
            )
        ),
    )


def _responses(m: GateMetrics) -> tuple[GateCheck, ...]:
    """Where no label is, in multiples of what other fits to the same labels differ by."""
    apart = (
        (
            "probes_apart",
            "farther from other fits where nobody was, a family of probes",
            MOST_APART,
        ),
        ("probes_apart_once", "the same, at one probe", MOST_APART_ONCE),
        ("member_apart", "the same, one of its networks", MEMBER_APART),
        ("weight_ratio", "its largest weight over theirs", MOST_WEIGHT),
    )
    return (
        *(
            _check(
                GateCheck(name=name, what=what, value=getattr(m, name), relation="<=", bound=bound)
            )
            for name, what, bound in apart
        ),
        _check(
            GateCheck(
                name="least_thing",
                what="what owning a thing of the quest is worth, the least",
                value=m.least_thing,
                bound=LEAST_GAIN_OF_A_THING,
            )
        ),
    )
