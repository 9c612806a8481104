"""Short skills of a policy: single buttons, walks, jumps, and interaction."""

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import (
    has_control,
    is_dying,
    is_menu,
    is_running,
    is_text,
    is_text_choice,
)
from rlaif.game.motion.room_watcher import place_of, tile_ahead
from rlaif.game.motion.things import is_movable
from rlaif.game.skills.attend import attend
from rlaif.game.skills.equip import button_of
from rlaif.game.skills.script import Script, done, tap

_HEALTH, _FACING = address("wLinkHealth"), address("w1Link.direction")
_IN_AIR = address("wLinkInAir")
_FEATHER = NAMED_ITEMS["feather"]
_STEPS_OF_A_WALK = 4
_STEPS_OF_A_PUSH = 7
"""A block moves after twenty frames of pushing; one step may have been walked before."""

_STEPS_IN_AIR = 8
_STEPS_TO_ANSWER = 4


def button(action: Action) -> Script:
    """One button for one step."""
    yield action
    return done()


def walk(ram: RamBlocks, direction: Action) -> Script:
    """Walk up to sixteen frames; fewer if stopped, hurt, in another room or without control.

    Pushes movable tiles until they move. In a question it is one press.
    """
    if not has_control(ram):
        yield from tap(direction)
        return done()
    place, health = place_of(ram), ram.u8(_HEALTH)
    for step in range(_STEPS_OF_A_PUSH):
        before = ram
        ram = yield direction
        if not has_control(ram) or place_of(ram) != place or ram.u8(_HEALTH) < health:
            break
        stopped = _pose(before) == _pose(ram)
        pushes = stopped and is_movable(ram, tile_ahead(ram))
        if not pushes and (stopped or step + 1 >= _STEPS_OF_A_WALK):
            break
    return done()


def aimed(ram: RamBlocks, direction: Action) -> Script:
    """Press the button of the feather, or else B, then the direction until landed."""
    ram = yield button_of(ram, _FEATHER) or Action.B
    for _ in range(_STEPS_IN_AIR):
        ram = yield direction
        if not ram.u8(_IN_AIR):
            break
    return done()


def interact(ram: RamBlocks) -> Script:
    """Press A, then read texts to their end; a question stays open.

    Closes a menu, and continues after a death and from the title.
    """
    if is_menu(ram):
        ram = yield from tap(Action.START)
    elif is_text(ram) or has_control(ram) or not is_running(ram):
        ram = yield from tap(Action.A)
    for _ in range(_STEPS_TO_ANSWER):
        if not has_control(ram):
            break
        ram = yield Action.NOP
    while not has_control(ram):
        if is_dying(ram):
            ram = yield from tap(Action.A)
            continue
        ram = yield from attend(ram)
        if is_text_choice(ram):
            return done("a question is open")
    return done()


def _pose(ram: RamBlocks) -> tuple[int, int, int]:
    return *player_position(ram), ram.u8(_FACING)
