"""TALK: walk up to a person or a sign, press A, read to the end or to the question."""

from rlaif.contracts.plans import Talk
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import talkables
from rlaif.game.memory.predicates import is_text, is_text_choice
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.options.attending import see_out, take_control
from rlaif.game.options.option import done
from rlaif.game.options.placing import stand_beside
from rlaif.game.options.room_tiles import in_room, is_solid, on_tile, person_near, tile_of
from rlaif.game.options.script import GiveUp, Part, Script, tap

_TRIES = 3
_STEPS_TO_ANSWER = 4


def talk(ram: RamBlocks, macro: Talk) -> Script:
    """Done when the text has ended, or asks something: an ANSWER is a macro of its own."""
    asked = TilePlace(macro.row, macro.column)
    for attempt in range(_TRIES):
        ram = yield from take_control(ram)
        tile = _spoken_to(ram, asked)
        ram = yield from stand_beside(ram, tile)
        for _ in range(2 * attempt):  # nearer, where being beside was too far
            ram = yield standing(ram).facing
        ram = yield from _speak(ram)
        if is_text(ram):
            ram = yield from see_out(ram)
            asks = is_text_choice(ram)
            return done("a question is open" if asks else "the text was read to its end")
    raise GiveUp("no_progress", f"nobody answers on tile {asked.column},{asked.row}")


def _spoken_to(ram: RamBlocks, asked: TilePlace) -> TilePlace:
    """The tile that was asked for, or the one to which the person has walked meanwhile."""
    if not in_room(ram, asked):
        raise GiveUp("impossible", f"tile {asked.column},{asked.row} is not in this room")
    if on_tile(talkables(ram), asked) or is_solid(ram, asked):
        return asked
    person = person_near(ram, asked)
    if person is None:
        raise GiveUp("impossible", f"nobody and no sign on tile {asked.column},{asked.row}")
    return tile_of(person.x, person.y)


def _speak(ram: RamBlocks) -> Part:
    """Press A and give a text the time to open."""
    ram = yield from tap(Action.A)
    for _ in range(_STEPS_TO_ANSWER):
        if is_text(ram):
            break
        ram = yield Action.NOP
    return ram
