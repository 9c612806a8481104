"""The gate: nothing unproved goes live."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.reward_model.learning.evaluation import Accuracy
from rlaif.reward_model.learning.measurements import Measurements
from rlaif.reward_model.learning.responses import unlike_refits
from rlaif.reward_model.learning.settings import GateSettings

_MIN_HELDOUT_EPISODES = 2
"""Episodes that it never saw."""

MIN_ACCURACY = 0.55
"""Held-out accuracy below which a candidate is of no use, whatever its interval."""

MOST_BELOW_A_REFIT = 0.02
"""Held-out accuracy by which another network of the same labels may surely be better: the interval
is over episodes, and two fits differ by their random numbers besides."""

LIKELY = 0.8
"""One-sided confidence that the networks rank better than simple judges that know more than can be
paid."""

LEAST_OVER_TIME = 0.3
"""Share of what is known beyond chance that must hold for the newest and the oldest episodes."""


@dataclass(frozen=True)
class Need:
    """Something that a training takes, met or not: so many `found`, so many at `least`."""

    what: str
    found: int
    least: int

    @property
    def met(self) -> bool:
        """Whether there is enough of it."""
        return self.found >= self.least

    def __str__(self) -> str:
        return f"{self.found} {self.what}, needs {self.least}"


def label_needs(labels: int, episodes: int, settings: GateSettings) -> tuple[Need, ...]:
    """What must be there before labels are split."""
    return (
        Need("labels", labels, settings.min_labels),
        Need("episodes", episodes, settings.min_episodes),
    )


def heldout_needs(known: Measurements, settings: GateSettings) -> tuple[Need, ...]:
    """What the held-out side must have before a network is fitted."""
    return (
        Need("held-out episodes", known.heldout_episodes, _MIN_HELDOUT_EPISODES),
        Need("decided held-out pairs", known.heldout.pairs, settings.min_heldout_pairs),
    )


def unmet(needs: Sequence[Need]) -> tuple[str, ...]:
    """What there is too little of, as sentences for people."""
    return tuple(str(need) for need in needs if not need.met)


def shortcomings(measured: Measurements, settings: GateSettings) -> list[str]:
    """Why a candidate is not good enough; empty when it is."""
    if measured.heldout.value is None or measured.crossfit.low is None:
        return ["no held-out accuracy could be measured"]
    return [*_faults_of_labels(measured, settings), *_faults_of_network(measured, settings)]


def _faults_of_labels(measured: Measurements, settings: GateSettings) -> list[str]:
    """Why no candidate of these labels would be good enough, however it was fitted."""
    return [
        *_labels_against_chance(measured, settings),
        *_against_simple(measured, settings),
        *_over_time(measured, settings),
        *_leaks(measured, settings),
    ]


def _faults_of_network(measured: Measurements, settings: GateSettings) -> list[str]:
    return [
        *_network_against_chance(measured, settings),
        *_against_ram(measured, settings),
        *_against_champion(measured, settings),
        *_calibration(measured, settings),
        *(unlike_refits(measured.responses) if measured.responses else ()),
    ]


def _labels_against_chance(measured: Measurements, settings: GateSettings) -> list[str]:
    low, p, level = measured.crossfit.low, measured.permutation_p, measured.permutation_level
    reasons = []
    if p is not None and level is not None and p > level:
        reasons.append(
            f"the labels may be chance: dealt to other episodes they are as predictable with "
            f"probability {p:.2g}, and this look may spend {level:.2g}"
        )
    if low is not None and low <= 0.5:
        reasons.append(
            f"nothing proves a signal in the labels: predicting each episode from the others is "
            f"right in {measured.crossfit.value:.3f} of the pairs, at {settings.confidence:.0%} "
            f"confidence perhaps in {low:.3f}, not above chance"
        )
    return reasons


def _network_against_chance(measured: Measurements, settings: GateSettings) -> list[str]:
    accuracy, over_refit, newest = measured.heldout.value, measured.over_refit, measured.newest
    reasons = []
    if accuracy is not None and accuracy < MIN_ACCURACY:
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is below the {MIN_ACCURACY} that is asked"
        )
    if over_refit is not None and over_refit.high < -MOST_BELOW_A_REFIT:
        reasons.append(
            f"held-out accuracy is {-over_refit.value:.3f} below that of another network fitted to "
            f"the same labels, surely {-over_refit.high:.3f}, more than {MOST_BELOW_A_REFIT}: "
            "this network did not learn them"
        )
    if newest.value is not None and newest.value < 0.5 and _enough(newest.pairs, settings):
        reasons.append(
            f"accuracy on the newest held-out segments is {newest.value:.3f}, below chance"
        )
    return reasons


def _against_simple(measured: Measurements, settings: GateSettings) -> list[str]:
    simple, accuracy = measured.simple, measured.crossfit.value
    best, line = f"the {simple.slot_name}", "a linear fit of all numbers"
    judges = (
        (best, simple.slot, simple.gain_over_slot),
        (line, simple.ridge, simple.gain_over_ridge),
    )
    potentials = (
        ("that rises with the best single number", simple.gain_over_paid_slot),
        ("that is linear", simple.gain_over_paid_ridge),
    )
    margin = settings.simple_margin
    return [
        *(
            f"it is not better than {who}, which ranks {other.value:.3f} of the pairs right and it "
            f"{accuracy:.3f}: the difference is perhaps {gain.low:.3f}, and at {LIKELY:.0%} "
            f"confidence {min(0.0, margin)} is asked"
            for who, other, gain in judges
            if gain is not None and gain.low <= min(0.0, margin)
        ),
        *(
            f"it is not surely better than a potential {kind}: at "
            f"{simple.confidence_over_paid:.0%} confidence the difference may be {gain.low:.3f}, "
            f"and {margin} is asked"
            for kind, gain in potentials
            if gain is not None and gain.low <= margin
        ),
    ]


def _over_time(measured: Measurements, settings: GateSettings) -> list[str]:
    accuracy = measured.crossfit.value
    least = 0.5 + LEAST_OVER_TIME * max(0.0, (accuracy or 0.5) - 0.5)
    sides = (
        (
            measured.forward,
            measured.forward.value,
            "newest episodes, predicted from older",
            "what comes next",
        ),
        (
            measured.backward,
            _perhaps(measured.backward),
            "oldest episodes, predicted from newer",
            "what came before",
        ),
    )
    return [
        f"the {which} ones, are right in {found.value:.3f} of the pairs, below {least:.3f}: what "
        f"was learned does not hold for {when}"
        for found, reached, which, when in sides
        if found.value is not None
        and reached is not None
        and reached < least
        and _enough(found.pairs, settings)
    ]


def _perhaps(found: Accuracy) -> float | None:
    """The upper bound where whole episodes give one.

    The oldest episodes are the first steps of a policy: a few half screens each, hardly decided,
    and no longer where it plays. So what is asked of them is that they surely do not contradict.
    """
    return found.value if found.high is None else found.high


def _leaks(measured: Measurements, settings: GateSettings) -> list[str]:
    control = measured.control
    if control.low is None or control.low <= 0.5:
        return []
    return [
        f"the control fails: on shuffled labels the same recipe is right in "
        f"{control.value:.3f} of the held-out pairs, at {settings.confidence:.0%} "
        f"confidence at least in {control.low:.3f}, where nothing above 0.5 is possible; labels "
        "leak into the inputs, or the held-out side is not held out"
    ]


def _against_ram(measured: Measurements, settings: GateSettings) -> list[str]:
    ram = measured.ram
    if ram.high is None or ram.high >= 0.5 or not _enough(ram.pairs, settings):
        return []
    return [
        f"where the game's RAM tells progress from none, it pays the right one more in "
        f"{ram.value:.3f} of the pairs, surely less than half"
    ]


def _against_champion(measured: Measurements, settings: GateSettings) -> list[str]:
    accuracy, champion = measured.heldout.value, measured.champion
    if accuracy is None or champion is None or champion.accuracy is None:
        return []
    reasons = []
    gain = champion.gain
    if accuracy < champion.accuracy - settings.champion_margin and (gain is None or gain.high < 0):
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is more than {settings.champion_margin} below the "
            f"champion's {champion.accuracy:.3f} on the same pairs, and not by chance"
        )
    correlation = champion.probe_correlation
    if (
        correlation is not None
        and correlation < settings.min_probe_correlation
        and accuracy <= champion.accuracy
    ):
        reasons.append(
            f"it ranks the probes otherwise than the champion (correlation {correlation:.2f}) "
            f"without being better: {accuracy:.3f} against {champion.accuracy:.3f}"
        )
    return reasons


def _calibration(measured: Measurements, settings: GateSettings) -> list[str]:
    ece = measured.heldout_ece
    if ece is None or ece <= settings.max_ece:
        return []
    return [
        f"its probabilities are wrong by {ece:.3f} on the held-out pairs, more than "
        f"{settings.max_ece}"
    ]


def _enough(pairs: int, settings: GateSettings) -> bool:
    return pairs >= settings.min_heldout_pairs


def newest_quarter(order: Sequence[int]) -> int:
    """The place in time from which a label belongs to the newest quarter."""
    return sorted(order)[-max(1, len(order) // 4)]
