"""FIGHT: strike the nearest enemy and keep at sword's length while it is invincible.

Sizes are those of the game: the blade hits around a point ahead, an enemy hurts by touch; the
enemy's radius is added to both.
"""

from typing import NamedTuple

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, enemies, player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_text_choice
from rlaif.game.motion.grid import OPPOSITE, WALKS, tile_of
from rlaif.game.motion.ground import Goal, Ground, ground_of
from rlaif.game.motion.room_watcher import FACING_ACTIONS, place_of
from rlaif.game.motion.terrain import TILE, TILE_COLUMNS
from rlaif.game.motion.things import moving_things
from rlaif.game.skills.attend import attend
from rlaif.game.skills.equip import equip
from rlaif.game.skills.script import Part, Script, done, failed
from rlaif.game.skills.walk import walk_to

MAX_STROKES = 12
_RADIUS, _CANNOT_BE_HURT = 0x27, 0x2B
"""Fields of an object: horizontal collision radius, frames of invincibility."""

_FACING, _USED = address("w1Link.direction"), address("wLinkUsingItem1")
_BLADE, _BLADE_WIDTH, _BODY = 18, 5, 6
_BIG = 8
"""A larger radius means an enemy that strokes do not push back."""

_BREATH, _BREATH_OF_BIG = 8, 14
_TURN_OF_BIG = 12
_STEPS_AWAY = 3
_STEPS_WITHOUT_A_STROKE, _STEPS_ROUND = 16, 6
_TRIES = 4


class Foe(NamedTuple):
    """An enemy relative to the player, in pixels."""

    slot: int
    dx: int
    dy: int
    radius: int
    can_be_hurt: bool

    @property
    def along(self) -> int:
        return max(abs(self.dx), abs(self.dy))

    @property
    def across(self) -> int:
        return min(abs(self.dx), abs(self.dy))

    @property
    def direction(self) -> Action:
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
        return self.along <= _BLADE + self.radius and self.across <= _BLADE_WIDTH + self.radius

    @property
    def is_big(self) -> bool:
        return self.radius > _BIG


def fight(ram: RamBlocks) -> Script:
    """Done if the enemy is gone or enough strokes were made; failed if no path leads to it."""
    button, ram = yield from equip(ram, "sword")
    place, slot = place_of(ram), None
    strokes = waited = rounds = 0
    while strokes < MAX_STROKES:
        if not has_control(ram):
            ram = yield from attend(ram)
            if is_text_choice(ram):
                return done("a question is open")
            continue
        if place_of(ram) != place:
            return failed("left_room", "entered another room")
        foe = _foe(ram, slot)
        if foe is None:
            return done("the enemy is gone" if slot is not None else "no enemy")
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
            return failed("no_progress", "no path to the enemy")
    return done("enough strokes")


def _foe(ram: RamBlocks, slot: int | None) -> Foe | None:
    """The living enemy in a slot, or the nearest, reachable ones first; None if there is none."""
    x, y = player_position(ram)
    living = [it for it in enemies(ram) if it.health and slot in (None, it.slot)]
    if not living:
        return None
    if len(living) > 1:
        near = {thing.tile for thing in moving_things(ram) if thing.reachable}
        living.sort(key=lambda it: (tile_of(it.x, it.y) not in near, *_distance(it, x, y)))
    return _relative(ram, living[0], x, y)


def _distance(it: Entity, x: int, y: int) -> tuple[int, int]:
    return abs(it.x - x) + abs(it.y - y), it.slot


def _relative(ram: RamBlocks, it: Entity, x: int, y: int) -> Foe:
    radius = ram.u8(it.slot + _RADIUS)
    return Foe(it.slot, it.x - x, it.y - y, radius, not ram.u8(it.slot + _CANNOT_BE_HURT) & 0x7F)


def _strikes(ram: RamBlocks, foe: Foe) -> bool:
    return foe.can_be_hurt and foe.within_reach and _is_turned_to(ram, foe)


def _is_turned_to(ram: RamBlocks, foe: Foe) -> bool:
    return FACING_ACTIONS[ram.u8(_FACING) & 3] == foe.direction


def _step(ram: RamBlocks, ground: Ground, foe: Foe) -> Action:
    """A step into reach, or away while the enemy is invincible; NOP if no step is safe."""
    x, y = player_position(ram)
    if foe.along < _least_distance(ram, foe):
        back = OPPOSITE[foe.direction]
        if not foe.can_be_hurt:
            return _away(ground, foe, x, y)
        if _steps_along(ground, (x, y), back, _STEPS_AWAY)[1] == _STEPS_AWAY:
            return back
    if not foe.can_be_hurt:
        wanted = [foe.aside] if foe.across > _BLADE_WIDTH and foe.is_big else []
    elif foe.within_reach:
        wanted = [foe.direction]  # turns around
    elif foe.across > _BLADE_WIDTH + foe.radius - 2 and foe.along < _BLADE + foe.radius + TILE:
        wanted = [foe.aside, foe.direction]
    else:
        wanted = [foe.direction, foe.aside]
    for way in wanted:
        if not ground.kills(x, y, way) and not ground.stops(x, y, way):
            return way
    turns = foe.can_be_hurt and not _is_turned_to(ram, foe)
    return foe.direction if turns and not ground.kills(x, y, foe.direction) else Action.NOP


def _least_distance(ram: RamBlocks, foe: Foe) -> int:
    """Minimum distance: the enemy advances while the player turns or waits."""
    touch = foe.radius + _BODY
    if not foe.can_be_hurt:
        return touch + (_BREATH_OF_BIG if foe.is_big else _BREATH)
    return touch + _TURN_OF_BIG if foe.is_big and not _is_turned_to(ram, foe) else 0


def _away(ground: Ground, foe: Foe, x: int, y: int) -> Action:
    """The direction that leads away from the enemy, preferably not into a corner."""
    best, most = Action.NOP, _safety(ground, foe, (x, y), (x, y))
    for way in WALKS:
        there, _ = _steps_along(ground, (x, y), way, _STEPS_AWAY)
        worth = _safety(ground, foe, (x, y), there)
        if worth > most:
            best, most = way, worth
    return best


def _steps_along(
    ground: Ground, here: tuple[int, int], way: Action, steps: int
) -> tuple[tuple[int, int], int]:
    for step in range(steps):
        if ground.kills(*here, way) or ground.stops(*here, way):
            return here, step
        here = ground.after(*here, way)
    return here, steps


def _safety(ground: Ground, foe: Foe, here: tuple[int, int], there: tuple[int, int]) -> float:
    off_x, off_y = (abs(here[0] + foe.dx - there[0]), abs(here[1] + foe.dy - there[1]))
    middle = abs(there[0] - ground.width // 2) + abs(there[1] - ground.height // 2)
    return max(off_x, off_y) + off_x + off_y - middle / 2


def _go_round(ram: RamBlocks, foe: Foe) -> Part:
    x, y = player_position(ram)
    tile = (y + foe.dy) // TILE * TILE_COLUMNS + (x + foe.dx) // TILE
    walk = walk_to(ram, Goal("on", tile))
    sent: RamBlocks | None = None
    for _ in range(_STEPS_ROUND):
        try:
            action = walk.send(sent)  # type: ignore[arg-type]  # None starts the generator
        except StopIteration:
            ram = yield Action.NOP
            break
        ram = sent = yield action
    return ram
