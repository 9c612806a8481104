"""Searches of a game with exploring environments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.exploration import explore, open_explorers
from rlaif.trainer.learner.runners.pool import RunnerPool
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.ratings import Rater
from rlaif.trainer.search.search import Figures, SearchSettings
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import CaptureSettings


def explorers_of(rom: Path | None, *, workers: int, environments: int) -> RunnerPool:
    """Start runners that explore a game without a run."""
    settings = TrainerSettings.model_validate(
        {"rom_path": rom, "ray_workers": workers, "envs_per_worker": environments}
    )
    capture = CaptureSettings(best_episodes=0)
    return open_explorers(settings, EnvConfig("explore", game=settings.game, capture=capture))


def search_until(
    is_over: Callable[[Figures], bool],
    folder: Path,
    *,
    seed: int = 3,
    rom: Path | None = None,
    workers: int = 0,
    environments: int = 2,
    rater: Rater | None = None,
    **changes: Any,
) -> Figures:
    """Search in a folder with runners of several environments; return the statistics."""
    search = open_search(
        folder, load_cartridge(rom), SearchSettings(seed=seed, **changes), rater=rater
    )
    runners = explorers_of(rom, workers=workers, environments=environments)
    for _ in explore(search, runners, environments=environments):
        if is_over(search.figures):
            break
    search.close()
    runners.stop()
    return search.figures
