"""Re-examines the live champion on labels that are newer than it.

The gate examined it once, with the labels of that time. Later trainings have new labels, of
episodes that the champion was neither trained nor selected on. If they show significantly that it
ranks segments wrongly, it is withdrawn: an older version that still passes goes live, or none.
"""

import logging
from dataclasses import dataclass
from datetime import datetime

from rlaif.contracts.reward_model_rest import MeasuredAccuracy
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.champions.registry import Live, ModelRegistry, UnknownVersionError
from rlaif.reward_model.learning.gate.evaluation import NOT_MEASURED, Gain, accuracy_on, gain_on
from rlaif.reward_model.learning.gate.folds import CrossFit
from rlaif.reward_model.learning.settings import MIN_HELDOUT_PAIRS, CandidateSettings
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.pay import Potential
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_MAX_VERSIONS = 5
"""Maximum number of older versions to examine."""

_MIN_EPISODES = 4
_MAX_SHORTFALL = 0.1
"""Accuracy by which a model may fall short of networks fitted to the newer labels."""

_MIN_ACCURACY = 0.55
"""Minimum accuracy of an older version to go live again."""


@dataclass(frozen=True)
class Demotion:
    """A champion that fails on newer labels; `back_to` replaces it, None for no version."""

    version: int
    activation: int
    reason: str
    back_to: int | None


@dataclass(frozen=True)
class Reexamination:
    """Results of a model on episodes without a label at the time of its training.

    Attributes:
        accuracy: Its value is None if there are too few episodes or pairs.
        gain: Its accuracy minus that of networks fitted to the newer labels.
    """

    accuracy: MeasuredAccuracy
    gain: Gain | None

    @property
    def fault(self) -> str | None:
        """Why it fails; None if it does not, or if that is unknown."""
        accuracy, gain = self.accuracy, self.gain
        if accuracy.value is None or accuracy.high is None or gain is None:
            return None
        ranks = f"it ranks {accuracy.value:.3f} of {accuracy.pairs} pairs of newer episodes right"
        if accuracy.high < 0.5:
            return f"{ranks}, significantly less than half"
        if gain.high < -_MAX_SHORTFALL:
            return (
                f"{ranks}, significantly more than {_MAX_SHORTFALL} below networks that were "
                "fitted to newer labels"
            )
        return None

    @property
    def holds(self) -> bool:
        value = self.accuracy.value
        return self.fault is None and value is not None and value >= _MIN_ACCURACY


def reexamine(
    potential: Potential, made_at: datetime, folds: CrossFit, settings: CandidateSettings
) -> Reexamination:
    """Rank the pairs of episodes whose labels are all newer than `made_at`."""
    segments = folds.side.segments
    old = {item.episode_id for item in segments if item.scored_at <= made_at}
    new = [item.episode_id not in old for item in segments]
    side = folds.side.with_pairs([i for i in folds.side.preferences if new[i.a] and new[i.b]])
    episodes = {segments[at].episode_id for item in side.decided for at in (item.a, item.b)}
    if len(side.decided) < MIN_HELDOUT_PAIRS or len(episodes) < _MIN_EPISODES:
        return Reexamination(NOT_MEASURED, None)
    pay = side.pay(potential)
    return Reexamination(
        accuracy_on(pay, side, seed=settings.seed),
        gain_on(pay, folds.statistics, side, seed=settings.seed),
    )


def find_demotion(
    registry: ModelRegistry, live: Live, folds: CrossFit, settings: CandidateSettings
) -> Demotion | None:
    """Examine the champion on newer labels; None if it passes, or if they are few. Blocks.

    `folds` are those of the newest training.
    """
    if not live.pays:
        return None
    found = _again(registry, live.manifest, folds, settings)
    if found is None or found.fault is None:
        return None
    reason = f"reward model {live.manifest.version} fails on newer labels: {found.fault}"
    back_to, version = None, live.manifest.parent_version
    for _ in range(_MAX_VERSIONS):
        if version is None or back_to is not None:
            break
        try:
            older = registry.manifest(version)
        except (UnknownVersionError, StorageError) as error:
            logger.warning("cannot roll back to version %d: %s", version, error)
            break
        again = _again(registry, older, folds, settings)
        back_to = version if again is not None and again.holds else None
        version = older.parent_version
    return Demotion(live.manifest.version, live.champion.activation, reason, back_to)


def _again(
    registry: ModelRegistry,
    manifest: RewardModelManifest,
    folds: CrossFit,
    settings: CandidateSettings,
) -> Reexamination | None:
    """Re-examine an older version; None if its file cannot be used with these labels."""
    layout = folds.side.segments[0].layout_version
    try:
        net = registry.network(manifest.version, layout_version=layout)
    except (RewardNetError, StorageError) as error:
        logger.warning("cannot examine version %d again: %s", manifest.version, error)
        return None
    return reexamine(PotentialFunction(net), manifest.created_at, folds, settings)
