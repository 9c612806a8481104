"""What labels that came after a model say of it."""

from dataclasses import dataclass
from datetime import datetime

from rlaif.reward_model.learning.crossfit import Crossfit
from rlaif.reward_model.learning.evaluation import Accuracy, Gain, Potential, measure_gain
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    Side,
    accuracy_on,
    bootstrap_rng,
    side_statistics,
)

_LEAST_EPISODES = 4
_FAR = 0.1
"""Accuracy by which a model may surely fall short of networks that know the newer labels."""

_HOLDS = 0.55


@dataclass(frozen=True)
class Reexamination:
    """A model on episodes of which no label was known when it was made.

    Attributes:
        accuracy: Its own; without a value when there are too few episodes or pairs.
        gain: Its accuracy less that of networks of other episodes, the newer ones among them.
    """

    accuracy: Accuracy
    gain: Gain | None

    @property
    def fault(self) -> str | None:
        """Why it does not hold, for people; None when it does, or when that cannot be told."""
        accuracy, gain = self.accuracy, self.gain
        if accuracy.value is None or accuracy.high is None or gain is None:
            return None
        on = f"of the {accuracy.pairs} pairs of episodes that came after it"
        if accuracy.high < 0.5:
            return f"it ranks {accuracy.value:.3f} {on} right, surely less than half"
        if gain.high < -_FAR:
            return (
                f"it ranks {accuracy.value:.3f} {on} right, surely more than {_FAR} below what "
                "networks of the other episodes reach"
            )
        return None

    @property
    def holds(self) -> bool:
        """Whether it is known to be of use still."""
        value = self.accuracy.value
        return self.fault is None and value is not None and value >= _HOLDS


def reexamine(
    potential: Potential, made_at: datetime, folds: Crossfit, settings: CandidateSettings
) -> Reexamination:
    """Rank the pairs of episodes whose labels are all newer than `made_at`."""
    segments = folds.side.segments
    old = {item.episode_id for item in segments if item.scored_at <= made_at}
    new = [item.episode_id not in old for item in segments]
    pairs = [item for item in folds.side.preferences if new[item.a] and new[item.b]]
    decided = [item for item in pairs if item.decided]
    episodes = {segments[place].episode_id for item in decided for place in (item.a, item.b)}
    if len(decided) < settings.gate.min_heldout_pairs or len(episodes) < _LEAST_EPISODES:
        return Reexamination(Accuracy(None, None, None, len(decided)), None)
    side = Side("newer", segments, pairs)
    statistics = side_statistics(potential, side, settings)
    gain = measure_gain(
        statistics,
        folds.statistics,
        pairs,
        side.episode_numbers,
        confidence=settings.gate.confidence,
        rng=bootstrap_rng(settings),
    )
    return Reexamination(accuracy_on(statistics, side, settings), gain)
