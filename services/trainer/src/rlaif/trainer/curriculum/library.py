"""Demonstrations on disk: one file, written atomically."""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import zstandard

from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import PackedKeyframe
from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import INPUT_VERSION, POLICY_INPUT
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    KeptState,
    Reached,
    of_one_order,
)
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.settings.game import GameSettings

_FILE = "demonstrations.npz.zst"
_MAX_BYTES = 1 << 30
"""Limit of the unpacked size; a day of play takes about 100 MB."""

_REMEDIES = {
    "ROM": "name the ROM file that they play, or build them in this game",
    "actions": "give their action set (--actions), or build them with this one",
}

Identity = dict[str, str]
"""Identity of demonstrations, which cannot be used with another game or action set."""


class DemonstrationsError(Exception):
    """The folder contains no demonstrations that this run can use."""


def identity_of(game: GameSettings) -> Identity:
    """Return the identity of demonstrations of a game and its action set."""
    cartridge = load_cartridge(game.rom_path)
    inputs = [(field.name, field.slots, field.codes) for field in POLICY_INPUT.fields]
    return {
        "ROM": cartridge.sha256,
        "emulator": f"pyboy {version('pyboy')}" + ", with sound" * cartridge.needs_sound,
        "actions": game.actions,
        "decisions": _digest([decision.name for decision in DECISIONS]),
        "inputs": _digest([INPUT_VERSION, inputs, KINDS]),
    }


def write(directory: Path, demonstrations: Sequence[Demonstration], identity: Identity) -> None:
    """Write demonstrations to a folder, replacing existing ones."""
    tree = {"identity": identity, "demonstrations": [vars(each) for each in demonstrations]}
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(npz_tree.packed(tree))
    write_whole(directory / _FILE, packed)


def read(directory: Path, identity: Identity) -> tuple[Demonstration, ...]:
    """Read the demonstrations of a folder that have the same order of goals, in stored order.

    Raises:
        DemonstrationsError: There are none, the file is damaged, or they are of another game,
            emulator or action set.
    """
    path = directory / _FILE
    try:
        packed = path.read_bytes()
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MAX_BYTES)
        tree = npz_tree.unpacked(data)
        demonstrations = tuple(map(_demonstration, tree["demonstrations"]))
    except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise DemonstrationsError(
            f"no demonstrations can be read from {path}: {error}; build them from a search"
        ) from error
    for name, value in tree["identity"].items():
        if value != identity.get(name):
            remedy = _REMEDIES.get(name, "build them again with this release")
            raise DemonstrationsError(
                f"the demonstrations in {directory} have {name} {value}, not {identity.get(name)}: "
                f"{remedy}"
            )
    return of_one_order(demonstrations)


def exists(directory: Path) -> bool:
    """Whether the folder contains demonstrations."""
    return (directory / _FILE).is_file()


def _demonstration(tree: dict[str, Any]) -> Demonstration:
    states = (KeptState(at, PackedKeyframe(*state), ram) for at, state, ram in tree["states"])
    reached = (Reached(at, frozenset(marks)) for at, marks in tree["reached"])
    return Demonstration(**tree | {"states": tuple(states), "reached": tuple(reached)})


def _digest(meaning: object) -> str:
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]
