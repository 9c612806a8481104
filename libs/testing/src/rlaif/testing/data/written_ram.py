"""RAM written by tests, by symbol."""

from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START
from rlaif.game.memory.blocks import DUNGEON_LAYOUT_SIZE, RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address

Write = tuple[str | int, int | bytes]
"""A symbol or an address, and one or more bytes."""

IN_PLAY: tuple[Write, ...] = (
    ("wGameState", 2), ("wCutsceneIndex", 1), ("wSavefileString", SAVEFILE_STRING),
    ("w1Link.state", 1), ("wScrollMode", 1), ("wLinkHealth", 12), ("wLinkMaxHealth", 12),
    ("wDungeonIndex", 0xFF), ("wLinkObjectIndex", 0xD0), ("wLinkPushingDirection", 0xFF),
)  # fmt: skip
"""A player with control and three hearts in overworld room 0x00."""


def written_ram(
    *writes: Write, floor: bytes = bytes(DUNGEON_LAYOUT_SIZE), play: bool = True
) -> RamBlocks:
    """Return RAM with these writes in order, on top of `IN_PLAY` or, without `play`, of zeros."""
    wram = bytearray(WRAM_SIZE)
    for where, value in (*(IN_PLAY if play else ()), *writes):
        at = (address(where) if isinstance(where, str) else where) - WRAM_START
        data = bytes([value]) if isinstance(value, int) else value
        wram[at : at + len(data)] = data
    return RamBlocks(bytes(wram), floor)
