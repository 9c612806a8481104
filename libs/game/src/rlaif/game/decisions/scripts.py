"""What the other families do: walks, jumps, talk and items."""

from rlaif.contracts.items import NAMED_ITEMS
from rlaif.game.decisions.going import walk_to
from rlaif.game.decisions.ground import Goal
from rlaif.game.decisions.moment import listens, place_of
from rlaif.game.decisions.things import gives_way
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_dying, is_menu, is_running, is_text, is_text_choice
from rlaif.game.navigation.terrain import TILE, TILE_COLUMNS
from rlaif.game.options.attending import attend
from rlaif.game.options.blasting import bomb_set
from rlaif.game.options.equipping import button_of, equip
from rlaif.game.options.option import done
from rlaif.game.options.room_tiles import tile_ahead
from rlaif.game.options.script import Script, tap
from rlaif.game.options.using import obeys, press

_HEALTH, _FACING = address("wLinkHealth"), address("w1Link.direction")
_IN_AIR = address("wLinkInAir")
_FEATHER = NAMED_ITEMS["feather"]
_STEPS_OF_A_WALK = 4
_STEPS_OF_A_PUSH = 7
"""What gives way does so after twenty frames, and a step may have been walked before."""

_STEPS_IN_AIR = 8
_STEPS_TO_ANSWER = 4
_STEPS_TO_REST = 40
_STEPS_TO_LAND = 8


def walk(ram: RamBlocks, way: Action) -> Script:
    """Up to sixteen frames; less where he is stopped, hurt, elsewhere or not obeying.

    Against what gives way when it is pushed he walks on until it does. In a question it is one
    press.
    """
    if not listens(ram):
        yield from tap(way)
        return done()
    place, health = place_of(ram), ram.u8(_HEALTH)
    for step in range(_STEPS_OF_A_PUSH):
        before = ram
        ram = yield way
        if not listens(ram) or place_of(ram) != place or ram.u8(_HEALTH) < health:
            break
        stopped = _pose(before) == _pose(ram)
        pushes = stopped and gives_way(ram, tile_ahead(ram))
        if not pushes and (stopped or step + 1 >= _STEPS_OF_A_WALK):
            break
    return done()


def aimed(ram: RamBlocks, way: Action) -> Script:
    """The button of the feather, or else B, then the direction until he has landed."""
    ram = yield button_of(ram, _FEATHER) or Action.B
    for _ in range(_STEPS_IN_AIR):
        ram = yield way
        if not ram.u8(_IN_AIR):
            break
    return done()


def interact(ram: RamBlocks) -> Script:
    """A, then whatever is told is read; a question that comes up stays open.

    It closes a menu, and goes on after a death and from the title.
    """
    if is_menu(ram):
        ram = yield from tap(Action.START)
    elif is_text(ram) or listens(ram) or not is_running(ram):
        ram = yield from tap(Action.A)
    for _ in range(_STEPS_TO_ANSWER):
        if not listens(ram):
            break
        ram = yield Action.NOP
    while not listens(ram):
        if is_dying(ram):
            ram = yield from tap(Action.A)
            continue
        ram = yield from attend(ram)
        if is_text_choice(ram):
            return done("a question is open")
    return done()


def use(ram: RamBlocks, name: str) -> Script:
    """Onto a button, pressed, and waited until he obeys; from a bomb he flees, too."""
    button, ram = yield from equip(ram, name)
    ram = yield from press(ram, button, name)
    if name == "bombs":
        return (yield from _flee(ram))
    for _ in range(_STEPS_TO_REST):
        if obeys(ram) and not ram.u8(_IN_AIR):
            break
        ram = yield Action.NOP
    return done()


def _flee(ram: RamBlocks) -> Script:
    """Away from a bomb that was set, until it is gone."""
    bomb = bomb_set(ram)
    if bomb is not None:
        x, y = bomb
        _, ram = yield from walk_to(ram, Goal("away", y // TILE * TILE_COLUMNS + x // TILE))
    while bomb_set(ram) is not None:
        ram = yield Action.NOP
    return done()


def _pose(ram: RamBlocks) -> tuple[int, int, int]:
    return *player_position(ram), ram.u8(_FACING)
