"""Pressing an item's button and seeing whether that did anything."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.predicates import has_control
from rlaif.game.memory.walls import COLLISION_BYTES
from rlaif.game.options.attending import take_control
from rlaif.game.options.script import GiveUp, Part

_LAYOUT = address("wRoomLayout")
_SEASON = address("wRoomStateModifier")
_USED = address("wLinkUsingItem1")
_TRACES = (
    (_LAYOUT, COLLISION_BYTES),
    (_SEASON, 1),
    (_USED, 1),
    (address("wNumBombs"), 16),  # bombs, seeds and whatever else is used up
    (address("wLinkGrabState"), 1),
    (address("wLinkInAir"), 1),
    (address("wUsingShield"), 1),
    (address("wLinkPlayingInstrument"), 1),
    (address("wTextIsActive"), 1),
)
"""Where the use of an item shows: address and size."""

_TRIES = 3
_STEPS_TO_SHOW = 6


def press(ram: RamBlocks, button: Action, name: str) -> Part:
    """Press the button until its item is seen to be used; up to three times."""
    before = _traces(ram)
    for _ in range(_TRIES):
        ram = yield button
        for _ in range(_STEPS_TO_SHOW):
            if _traces(ram) != before:
                return ram
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"{name} did nothing")


def come_to_rest(ram: RamBlocks) -> Part:
    """Until the item is put away and the player obeys; a text that opened is read."""
    while True:
        ram = yield from take_control(ram)
        if ram.u8(_USED) == 0:
            return ram
        ram = yield Action.NOP


def changes(before: RamBlocks, after: RamBlocks) -> str:
    """What an item changed in the room, in a few words."""
    if before.u8(_SEASON) != after.u8(_SEASON):
        return "the season changed"
    old, new = before.block(_LAYOUT, COLLISION_BYTES), after.block(_LAYOUT, COLLISION_BYTES)
    tiles = [
        f"{at % TILE_STRIDE},{at // TILE_STRIDE}"
        for at in range(COLLISION_BYTES)
        if old[at] != new[at]
    ]
    if not tiles:
        return "used; no tile of the room changed"
    return f"tiles changed: {' '.join(tiles[:4])}{' and more' if tiles[4:] else ''}"


def obeys(ram: RamBlocks) -> bool:
    """The player obeys and uses nothing."""
    return has_control(ram) and ram.u8(_USED) == 0


def _traces(ram: RamBlocks) -> bytes:
    return b"".join(ram.block(where, size) for where, size in _TRACES)
