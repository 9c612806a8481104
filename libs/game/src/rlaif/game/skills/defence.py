"""Defence during walks with a sword: strikes enemies within its reach first."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import are_enemies_near, enemies, player_position
from rlaif.game.memory.memory_map import ITEM_SWORD, address
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import FEET, VECTORS, tile_of
from rlaif.game.motion.ground import is_plain
from rlaif.game.motion.room_watcher import in_room, standing
from rlaif.game.skills.equip import button_of
from rlaif.game.skills.script import Choice, Option, running
from rlaif.game.skills.use import bomb_set

_USED, _GRAB = address("wLinkUsingItem1"), address("wLinkGrabState")
_IN_AIR, _SWIMMING = address("wLinkInAir"), address("wLinkSwimmingState")
_REACH, _WIDTH = 26, 10
"""How far the blade hits, in pixels ahead and to each side."""

_MAX_STROKES = 16
"""Strokes per option; enemies that survive them are ignored."""

_A_STEP = 6
"""Pixels that turning around may move the player, with a margin."""


class Defended:
    """An option that strikes at nearby enemies and then continues."""

    def __init__(self, option: Option) -> None:
        self._option = option
        self._strokes = 0
        self._striking = False

    def next(self, ram: RamBlocks) -> Choice:
        if self._striking and ram.u8(_USED) and has_control(ram):
            return running(Action.NOP)
        self._striking = False
        direction = self._threat(ram)
        if direction is None:
            return self._option.next(ram)
        if standing(ram).facing != direction:
            return running(direction)
        button = button_of(ram, ITEM_SWORD)
        assert button is not None  # checked by `_threat`
        self._strokes += 1
        self._striking = True
        return running(button)

    def _threat(self, ram: RamBlocks) -> Action | None:
        """The direction of an enemy that the blade would hit; None if the sword is not used."""
        if self._strokes >= _MAX_STROKES:
            return None
        if not are_enemies_near(ram, *player_position(ram), _REACH):
            return None
        here = standing(ram)
        for enemy in enemies(ram):
            direction = _within_reach(enemy.x - here.x, enemy.y - here.y)
            if enemy.health and direction is not None and _may_turn(ram, direction):
                return direction if _can_strike(ram) else None
        return None


def _can_strike(ram: RamBlocks) -> bool:
    busy = ram.u8(_USED) or ram.u8(_GRAB) or ram.u8(_IN_AIR) or ram.u8(_SWIMMING) & 0x0F
    return (
        not busy
        and has_control(ram)
        and button_of(ram, ITEM_SWORD) is not None
        and bomb_set(ram) is None
    )


def _within_reach(dx: int, dy: int) -> Action | None:
    if abs(dx) <= _WIDTH and abs(dy) <= _REACH:
        return Action.DOWN if dy > 0 else Action.UP
    if abs(dy) <= _WIDTH and abs(dx) <= _REACH:
        return Action.RIGHT if dx > 0 else Action.LEFT
    return None


def _may_turn(ram: RamBlocks, direction: Action) -> bool:
    """Whether a step in a direction stays in the room and off holes, water and doors."""
    here = standing(ram)
    if here.facing == direction:
        return True
    dy, dx = VECTORS[direction]
    tile = tile_of(here.x + dx * _A_STEP, here.y + FEET + dy * _A_STEP)
    return in_room(ram, tile) and is_plain(ram, tile)
