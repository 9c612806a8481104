"""Play MOVE_TO on the emulator, and convert the current room for the walking rule."""

from dataclasses import dataclass

from rlaif.contracts.planning.plans import MoveTo
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import option_of
from rlaif.game.skills.script import Choice, OptionLimits
from rlaif.testing.data.motion.reach import Pixel, Tile, Truth, all_tiles
from rlaif.testing.data.motion.real_steps import FRAME_SKIP, Entry, position
from rlaif.testing.data.motion.walking_rule import Ground

LIMITS = OptionLimits(most_steps=400)

_FLIPPERS = 0x2E
_WATER = (0xFD, 0xD1, 0xD2)
"""Indices of water, shore and deep water."""
_DOORS = (0xE6, 0xE8, 0xEC, 0xE2, 0x34, 0x44)
"""Doors, cave mouths, keyholes, blown cliffs, mats and exits."""


@dataclass(frozen=True)
class Trip:
    """Result of a MOVE_TO.

    Attributes:
        choice: Its result.
        steps: Emulator steps in which the player had control.
        at: Final position of the player.
        room: Final room.
        hearts_lost: Quarter hearts lost.
    """

    choice: Choice
    steps: int
    at: Pixel
    room: tuple[int, int]
    hearts_lost: int

    def verdict(self, truth: Truth, tile: Tile, entry: Entry) -> str:
        """Return `reached`, `refused` (correctly), or a description of the error."""
        least = truth.least(tile)
        if self.hearts_lost:
            return "hurt"
        if least is None:
            known = self.choice.cause == "unreachable"
            return "refused" if known and not self.steps else "walked for nothing"
        if self.choice.status != "done":
            return f"not reached: {self.choice.cause}"
        there = self.room != entry.room if tile in truth.doors else self.at in truth.goal(tile)
        return "reached" if there else "done elsewhere"


def move_to(emulator: Emulator, entry: Entry, tile: Tile) -> Trip:
    """Play a MOVE_TO from an entry to its end."""
    emulator.load_state(entry.state)
    ram = read_blocks(emulator)
    health, steps = ram.u8(address("wLinkHealth")), 0
    macro = MoveTo(row=tile[0], column=tile[1])
    option = option_of(macro, graph=RoomGraph(), limits=LIMITS)
    while not (choice := option.next(ram)).over:
        steps += has_control(ram)
        emulator.step(choice.action, FRAME_SKIP)
        ram = read_blocks(emulator)
    room = ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))
    return Trip(choice, steps, position(ram), room, health - ram.u8(address("wLinkHealth")))


def ground_of(ram: RamBlocks) -> Ground:
    """Return the current room of the cartridge for the walking rule (art/tiles.txt)."""
    tiles = all_tiles()
    byte = {tile: ram.u8(address("wRoomCollisions") + tile[0] * 16 + tile[1]) for tile in tiles}
    index = {tile: ram.u8(address("wRoomLayout") + tile[0] * 16 + tile[1]) for tile in tiles}
    water = frozenset(tile for tile in tiles if index[tile] in _WATER)
    holes = frozenset(tile for tile in tiles if byte[tile] == 0x10) - water
    swims = ram.bit(address("wObtainedTreasureFlags"), _FLIPPERS)
    return Ground(
        collisions=byte,
        deadly=holes if swims else holes | water,
        water=water if swims else frozenset(),
        beat=(ram.u8(address("wFrameCounter")) + 1) % 2,
        doors=frozenset(tile for tile in tiles if index[tile] in _DOORS and byte[tile] == 0),
    )
