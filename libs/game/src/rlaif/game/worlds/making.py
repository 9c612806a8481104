"""Makes a world from a seed: draws until it can be solved; equal seeds give equal bytes."""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from rlaif.contracts.game.names import seed_and_size
from rlaif.game.worlds.canvas import NoRoomError
from rlaif.game.worlds.draw import draw_world
from rlaif.game.worlds.graph import MAX_ROOMS, MIN_ROOMS
from rlaif.game.worlds.guide import guide
from rlaif.game.worlds.layout import CrampedError
from rlaif.game.worlds.picture import picture
from rlaif.game.worlds.records import Facts
from rlaif.game.worlds.rom import write_rom
from rlaif.game.worlds.solver import Leg, Solver, UnsolvableError
from rlaif.game.worlds.tables import Tables

WORLD_FILE = "world.gbc"
ATTEMPTS = 300
MAX_SEED = 99_999


@dataclass
class MadeWorld:
    """A solvable world with its solution."""

    seed: int
    tables: Tables
    legs: list[Leg]
    rejected: int  # draws that did not fit or had no solution

    @property
    def name(self) -> str:
        return f"world-{self.seed}-{len(self.tables.rooms)}"

    @cached_property
    def rom(self) -> bytes:
        return write_rom(self.tables, f"W{self.seed}-{len(self.tables.rooms)}")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The contents of world.json."""
        return Facts(self.rom, self.legs).world(self.name)

    def write(self, folder: Path) -> list[Path]:
        """Write the cartridge and its records; returns the files."""
        return _write(folder, self.rom, self.facts)


def _write(folder: Path, rom: bytes, facts: dict[str, Any]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in (WORLD_FILE, "world.json", "guide.md", "map.png")]
    files[0].write_bytes(rom)
    files[1].write_text(json.dumps(facts, indent=1) + "\n", encoding="ascii")
    files[2].write_text(guide(facts), encoding="ascii")
    picture(facts).save(files[3], optimize=True)
    return files


def provide(folder: Path, rom: bytes | None = None) -> None:
    """Write the world that a folder is named after, `world-SEED-SIZE`, unless it is there.

    With a `rom` it is that one and its records. Nothing is written for other names. Safe for
    concurrent processes: the folder appears complete.
    """
    known, file = seed_and_size(folder.name), folder / WORLD_FILE
    if known is None or (file.exists() and rom in (None, file.read_bytes())):
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".world-", dir=folder.parent) as scratch:
        written = Path(scratch) / folder.name
        if rom is None:
            make_world(*known).write(written)
        else:
            _write(written, rom, Facts(rom).world(folder.name))
        with suppress(FileNotFoundError):
            folder.rename(Path(scratch) / "replaced")
        with suppress(OSError):  # another process was faster
            written.rename(folder)


def make_world(seed: int, rooms: int) -> MadeWorld:
    """Draw the world of a seed.

    Raises:
        ValueError: Seed or size is out of range.
        UnsolvableError: No draw can be solved, which is a bug of this package.
    """
    if not (MIN_ROOMS <= rooms <= MAX_ROOMS and 0 <= seed <= MAX_SEED):
        sizes, seeds = f"{MIN_ROOMS} to {MAX_ROOMS} rooms", f"a seed of 0 to {MAX_SEED}"
        raise ValueError(f"a world has {sizes} and {seeds}; not {rooms} rooms and seed {seed}")
    reason = ""
    for attempt in range(ATTEMPTS):
        rng = Random(f"world {seed} of {rooms} rooms, draw {attempt}")
        try:
            tables = draw_world(rng, rooms)
            return MadeWorld(seed, tables, Solver(tables).solve(), attempt)
        except (CrampedError, NoRoomError, UnsolvableError) as error:
            reason = str(error)
    raise UnsolvableError(f"seed {seed}: no draw of {ATTEMPTS} can be solved, the last: {reason}")
