"""Opens a search in a folder: tree, workers and cartridge."""

from collections.abc import Callable
from pathlib import Path

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import STATE_VERSION
from rlaif.trainer.search.pool import InProcess, Processes, WorkerPool
from rlaif.trainer.search.ratings import Rater
from rlaif.trainer.search.search import Search, SearchSettings
from rlaif.trainer.search.tree import Tree

TREE = "tree.sqlite"
"""File name of the tree in the folder of a search."""


def open_search(
    folder: Path,
    cartridge: Cartridge,
    settings: SearchSettings,
    *,
    workers: int = 1,
    start: Callable[..., WorkerPool] = Processes,
    rater: Rater | None = None,
) -> Search:
    """Start a search in a folder, or resume the one there. With 0 workers, play in this process.

    `start` has the signature of `Processes` and starts the workers.

    Raises:
        TreeError: The folder holds a search of another game or emulator.
    """
    tree = Tree(folder / TREE, identity_of(cartridge))
    sound = cartridge.needs_sound
    pool: WorkerPool
    if workers:
        pool = start(workers, cartridge.data, settings.rollout, sound=sound)
    else:
        pool = InProcess(cartridge.data, settings.rollout, sound=sound)
    return Search(tree, pool, cartridge, settings, rater=rater)


def identity_of(cartridge: Cartridge) -> dict[str, str]:
    """Return what the stored states of a search depend on."""
    return {
        "rom_sha256": cartridge.sha256,
        "title": cartridge.title,
        "state_version": str(STATE_VERSION),
    }
