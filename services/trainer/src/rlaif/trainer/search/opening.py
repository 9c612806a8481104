"""Opens a search in a folder."""

from pathlib import Path

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import STATE_VERSION
from rlaif.trainer.search.ratings import Rater
from rlaif.trainer.search.search import Search, SearchSettings
from rlaif.trainer.search.tree import Tree

TREE = "tree.sqlite"
"""File name of the tree in the folder of a search."""


def open_search(
    folder: Path,
    cartridge: Cartridge,
    settings: SearchSettings | None = None,
    *,
    rater: Rater | None = None,
) -> Search:
    """Start a search in a folder, or resume the one there.

    Raises:
        TreeError: The folder holds a search of another game or emulator.
    """
    return Search(Tree(folder / TREE, identity_of(cartridge)), cartridge, settings, rater=rater)


def identity_of(cartridge: Cartridge) -> dict[str, str]:
    """Return game and emulator, on which the stored states of a search depend."""
    return {
        "rom_sha256": cartridge.sha256,
        "title": cartridge.title,
        "state_version": str(STATE_VERSION),
    }
