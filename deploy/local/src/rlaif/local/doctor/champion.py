"""I5: checks and rebuilds the live reward model."""

from collections.abc import Iterator
from datetime import UTC, datetime

from rlaif.local.doctor.findings import Finding
from rlaif.reward_model.champions.registry import CorruptChampionError, ModelRegistry
from rlaif.reward_net.errors import RewardNetError
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError


def check_champion(models: ObjectStore) -> Iterator[Finding]:
    """Check that the champion is readable, usable, and of the last activation. Blocks."""
    registry = _registry(models)
    numbers = (keys.activation_number(info.key) for info in models.list(keys.ACTIVATIONS))
    last = max((number for number in numbers if number is not None), default=0)
    fix = "the reward-model service rebuilds it when it starts, --repair immediately"
    try:
        live = registry.live()
    except CorruptChampionError as error:
        yield Finding("I5", "champion_corrupt", keys.CHAMPION, f"{error}; {fix}")
        return
    if live is None:
        if last:
            text = f"{keys.CHAMPION} is missing after {last} activations; {fix}"
            yield Finding("I5", "champion_missing", keys.CHAMPION, text)
        return
    if live.champion.activation < last:
        text = f"{keys.CHAMPION} is of activation {live.champion.activation}, the last was {last}"
        yield Finding("I5", "champion_went_back", keys.CHAMPION, text)
    try:
        registry.network(live.manifest.version, layout_version=live.manifest.spec.layout_version)
    except (RewardNetError, StorageError) as error:
        text = f"reward model {live.manifest.version} is live and cannot be used: {error}"
        yield Finding("I5", "champion_unusable", live.manifest.model_key, text)


def rebuild_champion(models: ObjectStore) -> str | None:
    """Rebuild a lost champion from its copies; returns a line about it, or None. Blocks."""
    live = _registry(models).heal()
    return None if live is None else f"reward model {live.manifest.version} is live"


def _registry(models: ObjectStore) -> ModelRegistry:
    return ModelRegistry(models, now=lambda: datetime.now(UTC))
