"""The live champion is examined again, on what came after it; what fails goes back, or off.

The gate asked once, with the labels of that day. Each later attempt has new ones, of episodes that
the champion neither learned from nor was chosen by. If these say surely that it pays for the wrong
thing, it is taken out of use: the version before goes live if that one holds on what came after it,
else none.
"""

import logging
from dataclasses import dataclass

from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.champions.registry import Live, ModelRegistry, UnknownVersionError
from rlaif.reward_model.learning.crossfit import Crossfit
from rlaif.reward_model.learning.reexamination import Reexamination, reexamine
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.errors import RewardNetError
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_MOST_VERSIONS = 5
"""Older versions that are tried."""


@dataclass(frozen=True)
class Demotion:
    """A champion that does not hold.

    Attributes:
        reason: One sentence for people.
        back_to: The version that takes its place; None for none.
    """

    version: int
    activation: int
    reason: str
    back_to: int | None


def find_demotion(
    registry: ModelRegistry, live: Live, folds: Crossfit, settings: CandidateSettings
) -> Demotion | None:
    """Examine the champion on what came after it; None when it holds, or when little came. Blocks.

    Args:
        registry: Where the versions are.
        live: The champion.
        folds: Of the newest attempt: all episodes, each ranked by a network of the others.
        settings: Of the attempt.
    """
    if not live.pays:
        return None
    found = _again(registry, live.manifest, folds, settings)
    if found is None or found.fault is None:
        return None
    reason = f"reward model {live.manifest.version} no longer holds: {found.fault}"
    back_to, version = None, live.manifest.parent_version
    for _ in range(_MOST_VERSIONS):
        if version is None or back_to is not None:
            break
        try:
            older = registry.manifest(version)
        except (UnknownVersionError, StorageError) as error:
            logger.warning("version %d cannot be gone back to: %s", version, error)
            break
        again = _again(registry, older, folds, settings)
        back_to = version if again is not None and again.holds else None
        version = older.parent_version
    return Demotion(live.manifest.version, live.champion.activation, reason, back_to)


def _again(
    registry: ModelRegistry,
    manifest: RewardModelManifest,
    folds: Crossfit,
    settings: CandidateSettings,
) -> Reexamination | None:
    """What is new says of a version; None when its file cannot be used on it."""
    layout = folds.side.segments[0].layout_version
    try:
        potential = registry.potential(manifest.version, layout_version=layout)
    except (RewardNetError, StorageError) as error:
        logger.warning("version %d is not examined again: %s", manifest.version, error)
        return None
    return reexamine(potential, manifest.created_at, folds, settings)
