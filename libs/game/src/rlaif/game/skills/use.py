"""Use items: equip, stand and turn as requested, press the button, wait for the effect."""

from collections.abc import Generator

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.contracts.planning.plans import UseItem
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import player_position
from rlaif.game.memory.memory_map import OBJECT_ID, OBJECT_X, OBJECT_Y, TILE_STRIDE, address
from rlaif.game.memory.predicates import has_control
from rlaif.game.memory.walls import COLLISION_BYTES
from rlaif.game.motion.grid import FEET, OPPOSITE, VECTORS, WALKS, TilePlace, neighbour
from rlaif.game.motion.room_watcher import in_room, standing, tile_under
from rlaif.game.motion.terrain import TILE
from rlaif.game.skills.attend import take_control
from rlaif.game.skills.equip import equip
from rlaif.game.skills.script import GiveUp, Part, Script, done, tap
from rlaif.game.skills.walk import flee_from, is_reachable, stand_before, walk_to

_LAYOUT = address("wRoomLayout")
_SEASON = address("wRoomStateModifier")
_USED, _GRAB, _IN_AIR = address("wLinkUsingItem1"), address("wLinkGrabState"), address("wLinkInAir")
_TRACES = (
    (_LAYOUT, COLLISION_BYTES),
    (_SEASON, 1),
    (_USED, 1),
    (address("wNumBombs"), 16),  # bombs, seeds and other consumables
    (_GRAB, 1),
    (_IN_AIR, 1),
    (address("wUsingShield"), 1),
    (address("wLinkPlayingInstrument"), 1),
    (address("wTextIsActive"), 1),
)
"""Memory that shows the use of an item: address and size."""

_COUNTS = {
    "bombs": address("wNumBombs"),
    "bombchus": address("wNumBombchus"),
    "ember_seeds": address("wNumEmberSeeds"),
    "scent_seeds": address("wNumScentSeeds"),
    "pegasus_seeds": address("wNumPegasusSeeds"),
    "gale_seeds": address("wNumGaleSeeds"),
    "mystery_seeds": address("wNumMysterySeeds"),
}
"""Address of the amount of each consumable."""

_ITEM_PAGES = range(0xD700, 0xDC00, 0x100)
"""Objects that were placed or thrown; a bomb of the cartridge is the first."""

_CARRIES = 0x83
_TRIES = 3
_STEPS_TO_SHOW = 6
_STEPS_TO_REST = 40
_STEPS_TO_RIM, _STEPS_IN_AIR = 8, 30
_TURNS = 4
_EDGE = 12
"""Pixels from the edge of the room within which a step may scroll to the next one."""


def use(ram: RamBlocks, name: str) -> Script:
    """Equip an item, use it where the player stands, and wait for control; flee from bombs."""
    button, ram = yield from equip(ram, name)
    ram = yield from press(ram, button, name)
    if name == "bombs":
        yield from _flee(ram)
        return done()
    for _ in range(_STEPS_TO_REST):
        if obeys(ram) and not ram.u8(_IN_AIR):
            break
        ram = yield Action.NOP
    return done()


def use_item(ram: RamBlocks, macro: UseItem, frames: int) -> Script:
    """Use an item as in a macro; the reason names the effect. A step has `frames` frames."""
    name = macro.item
    if name in _COUNTS and ram.u8(_COUNTS[name]) == 0:
        raise GiveUp("impossible", f"no {name} are left")
    button, ram = yield from equip(ram, name)
    direction, ram = yield from _aim(ram, macro)
    if name == "feather":
        return (yield from leap(ram, button, direction, frames))
    if name == "bombs":
        return (yield from _blast(ram, button))
    before = ram
    ram = yield from press(ram, button, name)
    ram = yield from come_to_rest(ram)
    return done(_effect(before, ram))


def _aim(
    ram: RamBlocks, macro: UseItem
) -> Generator[Action, RamBlocks, tuple[Action | None, RamBlocks]]:
    direction = None if macro.direction is None else Action[macro.direction]
    if macro.column is not None and macro.row is not None:
        tile = TilePlace(macro.row, macro.column)
        ram = yield from stand_before(ram, tile, WALKS if direction is None else [direction])
        return standing(ram).facing, ram
    if direction is not None and NAMED_ITEMS[macro.item] != NAMED_ITEMS["feather"]:
        ram = yield from _turn(ram, direction)
    return direction, ram


def _turn(ram: RamBlocks, direction: Action) -> Part:
    """Face a direction by a step of a few pixels that does not leave the room."""
    for _ in range(_TURNS):
        here = standing(ram)
        if here.facing == direction:
            break
        (height, width), (dy, dx) = here.size, VECTORS[direction]
        inside = 0 < here.x + dx * _EDGE < width and 0 < here.y + dy * _EDGE < height
        ram = yield direction if inside else OPPOSITE[direction]
    return ram


def leap(ram: RamBlocks, button: Action, direction: Action | None, frames: int) -> Script:
    """Jump over the next tile, or on the spot; done after landing beyond it.

    The player walks one pixel per frame; a step of the script has `frames` frames.
    """
    if direction is not None:
        beyond = neighbour(neighbour(tile_under(ram), direction), direction)
        if not in_room(ram, beyond):
            raise GiveUp("impossible", f"no place to land {direction.name} in this room")
        for _ in range(_STEPS_TO_RIM):
            if _is_at_rim(ram, direction, frames):
                break
            ram = yield direction
            ram = yield from take_control(ram)
    start = tile_under(ram)
    ram = yield from press(ram, button, "feather")
    for _ in range(_STEPS_IN_AIR):
        if ram.u8(_IN_AIR) == 0:
            break
        ram = yield direction if direction is not None else Action.NOP
    if direction is None:
        return done("jumped")
    if not has_control(ram):
        raise GiveUp("no_progress", "fell, or was stopped in the air")
    end = tile_under(ram)
    if max(abs(end.row - start.row), abs(end.column - start.column)) < 2:
        raise GiveUp("no_progress", "did not get beyond the next tile")
    return done("landed beyond the next tile")


def _is_at_rim(ram: RamBlocks, direction: Action, frames: int) -> bool:
    here = standing(ram)
    along = here.y + FEET if direction in (Action.UP, Action.DOWN) else here.x
    if direction in (Action.UP, Action.LEFT):
        return along % TILE < frames
    return along % TILE >= TILE - frames


def _blast(ram: RamBlocks, button: Action) -> Script:
    """Set a bomb and flee; done when it is gone."""
    before = ram
    if not is_reachable(ram, flee_from(*player_position(ram))):
        raise GiveUp("impossible", "no place in this room is far enough from a bomb")
    ram = yield from press(ram, button, "bombs")
    if ram.u8(_GRAB) == _CARRIES:  # the bomb is still in the player's hands
        ram = yield from tap(button)
    ram = yield from _flee(ram)
    ram = yield from take_control(ram)
    return done(_effect(before, ram))


def _flee(ram: RamBlocks) -> Part:
    bomb = bomb_set(ram)
    if bomb is not None:
        _, ram = yield from walk_to(ram, flee_from(*bomb))
    while bomb_set(ram) is not None:
        ram = yield Action.NOP
    return ram


def bomb_set(ram: RamBlocks) -> tuple[int, int] | None:
    """(x, y) of a bomb that has not exploded yet, else None."""
    for slot in _ITEM_PAGES:
        if ram.u8(slot) and ram.u8(slot + OBJECT_ID) == NAMED_ITEMS["bombs"]:
            return ram.u8(slot + OBJECT_X), ram.u8(slot + OBJECT_Y)
    return None


def press(ram: RamBlocks, button: Action, name: str) -> Part:
    """Press the button of an item, up to three times, until RAM shows its use."""
    before = _traces(ram)
    for _ in range(_TRIES):
        ram = yield button
        for _ in range(_STEPS_TO_SHOW):
            if _traces(ram) != before:
                return ram
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"{name} had no effect")


def come_to_rest(ram: RamBlocks) -> Part:
    """Wait until the player has control and uses no item; reads texts that open."""
    while True:
        ram = yield from take_control(ram)
        if ram.u8(_USED) == 0:
            return ram
        ram = yield Action.NOP


def obeys(ram: RamBlocks) -> bool:
    """The player has control and uses no item."""
    return has_control(ram) and ram.u8(_USED) == 0


def _effect(before: RamBlocks, after: RamBlocks) -> str:
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


def _traces(ram: RamBlocks) -> bytes:
    return b"".join(ram.block(where, size) for where, size in _TRACES)
