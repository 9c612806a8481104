"""FIGHT: at the nearest enemy, strike, keep at the length of the blade until it can be hurt again.

Sizes are the game's own: a blade held out hits around a point ahead, and an enemy hurts whom it
touches; both add the enemy's radius.
"""

from typing import NamedTuple

from rlaif.game.decisions.going import walk_to
from rlaif.game.decisions.ground import Goal, Ground, ground_of
from rlaif.game.decisions.moment import listens, place_of
from rlaif.game.decisions.things import moving_things
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, enemies, player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_text_choice
from rlaif.game.navigation.grid import WALKS
from rlaif.game.navigation.room_graph import OPPOSITE
from rlaif.game.navigation.room_watcher import FACING_ACTIONS
from rlaif.game.navigation.terrain import TILE, TILE_COLUMNS
from rlaif.game.options.attending import attend
from rlaif.game.options.equipping import equip
from rlaif.game.options.option import done, failed
from rlaif.game.options.script import Part, Script

MOST_STROKES = 12
_RADIUS, _CANNOT_BE_HURT = 0x27, 0x2B
"""Fields of an object: its collision radius across, frames in which nothing hurts it."""

_FACING, _USED = address("w1Link.direction"), address("wLinkUsingItem1")
_BLADE, _BLADE_WIDTH, _BODY = 18, 5, 6
_BIG = 8
"""A greater radius is that of something that no stroke drives back."""

_BREATH, _BREATH_OF_BIG = 8, 14
_TURN_OF_BIG = 12
_STEPS_AWAY = 3
_STEPS_WITHOUT_A_STROKE, _STEPS_ROUND = 16, 6
_TRIES = 4


class Foe(NamedTuple):
    """An enemy as seen from the player, in pixels."""

    slot: int
    dx: int
    dy: int
    radius: int
    can_be_hurt: bool

    @property
    def along(self) -> int:
        """How far on the longer axis."""
        return max(abs(self.dx), abs(self.dy))

    @property
    def across(self) -> int:
        """How far on the shorter one."""
        return min(abs(self.dx), abs(self.dy))

    @property
    def direction(self) -> Action:
        """Towards it on the longer axis."""
        if abs(self.dx) > abs(self.dy):
            return Action.RIGHT if self.dx > 0 else Action.LEFT
        return Action.DOWN if self.dy > 0 else Action.UP

    @property
    def aside(self) -> Action:
        """Towards it on the shorter axis."""
        if abs(self.dx) > abs(self.dy):
            return Action.DOWN if self.dy > 0 else Action.UP
        return Action.RIGHT if self.dx > 0 else Action.LEFT

    @property
    def within_reach(self) -> bool:
        """Whether the blade would hit it, once turned towards it."""
        return self.along <= _BLADE + self.radius and self.across <= _BLADE_WIDTH + self.radius

    @property
    def is_big(self) -> bool:
        """Whether no stroke drives it back."""
        return self.radius > _BIG


def fight(ram: RamBlocks) -> Script:
    """Done when the enemy is gone or enough strokes were made; failed where no way leads to it."""
    button, ram = yield from equip(ram, "sword")
    place, slot = place_of(ram), None
    strokes = waited = rounds = 0
    while strokes < MOST_STROKES:
        if not listens(ram):
            ram = yield from attend(ram)
            if is_text_choice(ram):
                return done("a question is open")
            continue
        if place_of(ram) != place:
            return failed("left_room", "another room")
        foe = _foe(ram, slot)
        if foe is None:
            return done("it is gone" if slot is not None else "nobody to fight")
        slot = foe.slot
        if ram.u8(_USED):
            ram = yield Action.NOP
        elif _strikes(ram, foe):
            strokes, waited, rounds = strokes + 1, 0, 0
            ram = yield button
        elif waited < _STEPS_WITHOUT_A_STROKE or not foe.can_be_hurt:
            waited += 1
            ram = yield _step(ram, ground_of(ram), foe)
        elif rounds < _TRIES:
            waited, rounds = _STEPS_WITHOUT_A_STROKE // 2, rounds + 1
            ram = yield from _go_round(ram, foe)
        else:
            return failed("no_progress", "no way to it")
    return done("enough strokes")


def _foe(ram: RamBlocks, slot: int | None) -> Foe | None:
    """The enemy in a slot, or the nearest one, of those that can be got at; None where none is."""
    x, y = player_position(ram)
    living = [it for it in enemies(ram) if it.health and slot in (None, it.slot)]
    if not living:
        return None
    if len(living) > 1:
        near = {thing.tile for thing in moving_things(ram) if thing.reachable}
        living.sort(key=lambda it: ((it.y // TILE, it.x // TILE) not in near, *_far(it, x, y)))
    return _seen(ram, living[0], x, y)


def _far(it: Entity, x: int, y: int) -> tuple[int, int]:
    return abs(it.x - x) + abs(it.y - y), it.slot


def _seen(ram: RamBlocks, it: Entity, x: int, y: int) -> Foe:
    radius = ram.u8(it.slot + _RADIUS)
    return Foe(it.slot, it.x - x, it.y - y, radius, not ram.u8(it.slot + _CANNOT_BE_HURT) & 0x7F)


def _strikes(ram: RamBlocks, foe: Foe) -> bool:
    """Whether the blade would hit it now."""
    return foe.can_be_hurt and foe.within_reach and _is_turned_to(ram, foe)


def _is_turned_to(ram: RamBlocks, foe: Foe) -> bool:
    return FACING_ACTIONS[ram.u8(_FACING) & 3] == foe.direction


def _step(ram: RamBlocks, ground: Ground, foe: Foe) -> Action:
    """Into reach, or out of its reach while nothing hurts it; NOP where no step is safe."""
    x, y = player_position(ram)
    if foe.along < _least_distance(ram, foe):
        back = OPPOSITE[foe.direction]
        if not foe.can_be_hurt:
            return _away(ground, foe, x, y)
        if _walks(ground, (x, y), back, _STEPS_AWAY)[1] == _STEPS_AWAY:
            return back
    if not foe.can_be_hurt:
        wishes = [foe.aside] if foe.across > _BLADE_WIDTH and foe.is_big else []
    elif foe.within_reach:
        wishes = [foe.direction]  # turns round
    elif foe.across > _BLADE_WIDTH + foe.radius - 2 and foe.along < _BLADE + foe.radius + TILE:
        wishes = [foe.aside, foe.direction]
    else:
        wishes = [foe.direction, foe.aside]
    for way in wishes:
        if not ground.kills(x, y, way) and not ground.stops(x, y, way):
            return way
    turns = foe.can_be_hurt and not _is_turned_to(ram, foe)
    return foe.direction if turns and not ground.kills(x, y, foe.direction) else Action.NOP


def _least_distance(ram: RamBlocks, foe: Foe) -> int:
    """How near it may be: it comes on while he turns or waits."""
    touch = foe.radius + _BODY
    if not foe.can_be_hurt:
        return touch + (_BREATH_OF_BIG if foe.is_big else _BREATH)
    return touch + _TURN_OF_BIG if foe.is_big and not _is_turned_to(ram, foe) else 0


def _away(ground: Ground, foe: Foe, x: int, y: int) -> Action:
    """The direction that leads away from it, and rather not into a corner."""
    best, most = Action.NOP, _worth(ground, foe, (x, y), (x, y))
    for way in WALKS:
        there, _ = _walks(ground, (x, y), way, _STEPS_AWAY)
        worth = _worth(ground, foe, (x, y), there)
        if worth > most:
            best, most = way, worth
    return best


def _walks(
    ground: Ground, here: tuple[int, int], way: Action, steps: int
) -> tuple[tuple[int, int], int]:
    """Where so many steps lead, and how many of them move him."""
    for step in range(steps):
        if ground.kills(*here, way) or ground.stops(*here, way):
            return here, step
        here = ground.after(*here, way)
    return here, steps


def _worth(ground: Ground, foe: Foe, here: tuple[int, int], there: tuple[int, int]) -> float:
    """Of being at a pixel, as the enemy is seen from another."""
    off_x, off_y = (abs(here[0] + foe.dx - there[0]), abs(here[1] + foe.dy - there[1]))
    middle = abs(there[0] - ground.width // 2) + abs(there[1] - ground.height // 2)
    return max(off_x, off_y) + off_x + off_y - middle / 2


def _go_round(ram: RamBlocks, foe: Foe) -> Part:
    """Some steps of the way to its tile, around what is between."""
    x, y = player_position(ram)
    tile = (y + foe.dy) // TILE * TILE_COLUMNS + (x + foe.dx) // TILE
    walk = walk_to(ram, Goal("on", tile))
    sent: RamBlocks | None = None
    for _ in range(_STEPS_ROUND):
        try:
            action = walk.send(sent)  # type: ignore[arg-type]  # None begins it
        except StopIteration:
            ram = yield Action.NOP
            break
        ram = sent = yield action
    return ram
