"""Save states of different kinds along the walkthrough of the embedded game."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rlaif.game import predicates, rooms
from rlaif.game.actions import Action
from rlaif.game.blocks import RamBlocks, read_blocks
from rlaif.game.cartridges import Cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.entities import EntityKind, entities_in
from rlaif.trainer.env.start import initial_state

WALKTHROUGH = Path(__file__).resolve().parents[1] / "libs/game/cartridge/walkthrough.json"
SOME_ENEMIES = 2
_OVERWORLD = 0


@dataclass(frozen=True)
class Moment:
    """What a moment of the walkthrough is told apart by."""

    control: bool
    text: bool
    overworld: bool
    dungeon: bool
    enemies: int

    @classmethod
    def of(cls, ram: RamBlocks) -> "Moment":
        found = entities_in(ram)
        return cls(
            control=predicates.has_control(ram),
            text=predicates.is_dialog_state(ram),
            overworld=rooms.dungeon_of(ram) is None and ram.u8(0xCC49) == _OVERWORLD,
            dungeon=rooms.dungeon_of(ram) is not None,
            enemies=sum(entity.kind is EntityKind.ENEMY for entity in found),
        )


KINDS: dict[str, Callable[[Moment], bool]] = {
    "village": lambda m: m.control and m.overworld and not m.enemies,
    "field": lambda m: m.control and m.overworld and m.enemies >= SOME_ENEMIES,
    "house": lambda m: m.control and not m.overworld and not m.dungeon and not m.enemies,
    "dialog": lambda m: m.text,
    "dungeon": lambda m: m.control and m.dungeon and not m.enemies,
    "fight": lambda m: m.control and m.dungeon and m.enemies >= SOME_ENEMIES,
}
