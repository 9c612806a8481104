"""Searches of a game with environments that explore."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.exploration import explore, explorers_of
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.ratings import Rater
from rlaif.trainer.search.search import Figures, SearchSettings


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
    """Search in a folder with so many runners of so many environments; the statistics."""
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
