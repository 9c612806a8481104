"""Skills at one tile: cut, push, take, talk, and answer the question of an open text."""

from rlaif.game.encoder.scene import CHEST
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, interactions, parts, talkables
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_text, is_text_choice
from rlaif.game.motion.grid import TilePlace, neighbour, tile_of
from rlaif.game.motion.room_watcher import (
    in_room,
    index_at,
    is_solid,
    on_tile,
    person_near,
    standing,
    tile_under,
)
from rlaif.game.skills.attend import read_to_question, see_out, take_control
from rlaif.game.skills.equip import button_of, equip, item_id
from rlaif.game.skills.script import GiveUp, Part, Script, done, tap
from rlaif.game.skills.use import come_to_rest, obeys
from rlaif.game.skills.walk import stand_before, stand_on

PUSHED_BLOCK = 0x14
"""Interaction id of a sliding block, in both games."""

_GRAB = address("wLinkGrabState")
_CHOSEN = address("wSelectedTextOption")
_BRACELET = item_id("bracelet")
_TRIES = 3
_STEPS_TO_SHOW = 4
_STEPS_TO_CUT = 6
_STEPS_TO_TAKE = 12
_STEPS_TO_APPEAR = 15
"""One second: the reward of a solved puzzle may appear late."""

_STEPS_TO_TALK = _STEPS_TO_CLOSE = 4
_CURSOR_MOVES = 12


def cut(ram: RamBlocks, tile: TilePlace) -> Script:
    """Strike at a tile until it changes: a bush, grass, a lever."""
    _check_in_room(ram, tile)
    button, ram = yield from equip(ram, "sword")
    ram = yield from take_control(ram)
    before = index_at(ram, tile)
    for _ in range(_TRIES):
        ram = yield from stand_before(ram, tile)
        ram = yield button
        for _ in range(_STEPS_TO_CUT):
            if index_at(ram, tile) != before:
                ram = yield from come_to_rest(ram)
                return done("the tile changed")
            if obeys(ram):
                break
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"the sword does not change tile {tile.column},{tile.row}")


def push(ram: RamBlocks, block: TilePlace, direction: Action, max_steps: int) -> Script:
    """Walk behind a block and push until it has moved one tile."""
    ram = yield from take_control(ram)
    target = neighbour(block, direction)
    if not in_room(ram, block) or not in_room(ram, target):
        raise GiveUp("impossible", "the block or its target tile is not in this room")
    if not is_solid(ram, block):
        raise GiveUp("impossible", f"nothing to push on tile {block.column},{block.row}")
    if is_solid(ram, target):
        raise GiveUp("impossible", f"there is no room to move {direction.name}")
    ram = yield from stand_before(ram, block, [direction])
    before = index_at(ram, block)
    for _ in range(max_steps):
        if index_at(ram, block) != before:
            break
        ram = yield direction
    else:
        raise GiveUp("no_progress", f"the tile does not move {direction.name}")
    while any(it.id == PUSHED_BLOCK for it in interactions(ram)):
        ram = yield Action.NOP
    return done("the block moved")


def take(ram: RamBlocks, tile: TilePlace) -> Script:
    """Open a chest, lift a heavy thing, or step onto an item."""
    ram = yield from take_control(ram)
    _check_in_room(ram, tile)
    for _ in range(_STEPS_TO_APPEAR):
        if is_solid(ram, tile) or _items(ram, tile):
            break
        ram = yield Action.NOP
    if index_at(ram, tile) == CHEST:
        return (yield from _open(ram, tile))
    if is_solid(ram, tile):
        return (yield from _lift(ram, tile))
    return (yield from _collect(ram, tile))


def _open(ram: RamBlocks, chest: TilePlace) -> Script:
    for _ in range(_TRIES):
        ram = yield from stand_before(ram, chest, [Action.UP])  # it opens only from below
        ram = yield Action.A
        for _ in range(_STEPS_TO_SHOW):
            if index_at(ram, chest) != CHEST:
                ram = yield from see_out(ram)
                return done("the chest is open")
            ram = yield Action.NOP
    raise GiveUp("no_progress", "the chest does not open")


def _lift(ram: RamBlocks, tile: TilePlace) -> Script:
    before = index_at(ram, tile)
    for _ in range(_TRIES):
        ram = yield from stand_before(ram, tile)
        ram = yield button_of(ram, _BRACELET) or Action.A
        for _ in range(_STEPS_TO_SHOW):
            if index_at(ram, tile) != before:
                ram = yield from see_out(ram)
                return done("lifted" if ram.u8(_GRAB) else "the tile changed")
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"nothing to lift on tile {tile.column},{tile.row}")


def _collect(ram: RamBlocks, tile: TilePlace) -> Script:
    if not _items(ram, tile):
        raise GiveUp("impossible", f"no item on tile {tile.column},{tile.row}")
    for _ in range(_STEPS_TO_TAKE):
        ram = yield from stand_on(ram, tile)
        if not _items(ram, tile):
            ram = yield from see_out(ram)
            return done("taken")
        if tile_under(ram) != tile:
            raise GiveUp("unreachable", f"no path onto tile {tile.column},{tile.row}")
        ram = yield Action.NOP
    raise GiveUp("no_progress", "the item cannot be taken")


def _items(ram: RamBlocks, tile: TilePlace) -> list[Entity]:
    return on_tile(interactions(ram) + parts(ram), tile)


def talk(ram: RamBlocks, asked: TilePlace) -> Script:
    """Talk to a person or read a sign, to the end of the text or to its question."""
    for attempt in range(_TRIES):
        ram = yield from take_control(ram)
        tile = _spoken_to(ram, asked)
        ram = yield from stand_before(ram, tile)
        for _ in range(2 * attempt):  # nearer, if the text did not open
            ram = yield standing(ram).facing
        ram = yield from tap(Action.A)
        for _ in range(_STEPS_TO_TALK):
            if is_text(ram):
                break
            ram = yield Action.NOP
        if is_text(ram):
            ram = yield from see_out(ram)
            asks = is_text_choice(ram)
            return done("a question is open" if asks else "the text was read to its end")
    raise GiveUp("no_progress", f"no one answers on tile {asked.column},{asked.row}")


def _spoken_to(ram: RamBlocks, asked: TilePlace) -> TilePlace:
    """The requested tile, or the one to which the person has moved."""
    _check_in_room(ram, asked)
    if on_tile(talkables(ram), asked) or is_solid(ram, asked):
        return asked
    person = person_near(ram, asked)
    if person is None:
        raise GiveUp("impossible", f"no person and no sign on tile {asked.column},{asked.row}")
    return tile_of(person.x, person.y)


def answer(ram: RamBlocks, choice: int) -> Script:
    """Read an open text to its question, choose, and continue to the end or the next question."""
    if not is_text(ram):
        raise GiveUp("impossible", "no text is open")
    ram = yield from read_to_question(ram)
    if not is_text_choice(ram):
        ram = yield from see_out(ram)
        return done("the text was read to its end without a question")
    ram = yield from _choose(ram, choice)
    for _ in range(_TRIES):
        ram = yield from tap(Action.A)
        for _ in range(_STEPS_TO_CLOSE):
            if not is_text_choice(ram):
                ram = yield from see_out(ram)
                asks = is_text_choice(ram)
                return done("another question is open" if asks else "answered")
            ram = yield Action.NOP
    raise GiveUp("no_progress", "the question stays open")


def _choose(ram: RamBlocks, choice: int) -> Part:
    """Move the cursor to a choice: first along the line, then up and down."""
    for move in range(_CURSOR_MOVES):
        if not is_text_choice(ram):
            raise GiveUp("no_progress", "the question closed by itself")
        chosen = ram.u8(_CHOSEN)
        if chosen == choice:
            return ram
        along = move < _CURSOR_MOVES // 2
        forward = Action.RIGHT if along else Action.DOWN
        back = Action.LEFT if along else Action.UP
        ram = yield from tap(forward if chosen < choice else back)
    raise GiveUp("impossible", f"the question has no choice {choice}")


def _check_in_room(ram: RamBlocks, tile: TilePlace) -> None:
    if not in_room(ram, tile):
        raise GiveUp("impossible", f"tile {tile.column},{tile.row} is not in this room")
