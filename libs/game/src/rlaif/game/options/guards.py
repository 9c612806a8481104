"""What every option is watched for: any option in, the same option out, with limits."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import COMPANION, OBJECT_DIRECTION, address
from rlaif.game.memory.predicates import has_control, is_dying, is_running, is_text
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.options.option import HARDEST_HIT, Choice, Option, OptionLimits, failed

_HEALTH = address("wLinkHealth")
_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_LAYOUT = address("wRoomLayout")
_SEEN = (
    (address("w1Link.direction"), 8),  # facing and place
    (COMPANION + OBJECT_DIRECTION, 8),  # those of the animal that is ridden
    (address("wInventoryB"), 0x48),  # what is owned, and how much of it
    (address("wTextIsActive"), 6),
    (address("wOpenedMenuType"), 5),
    (address("wLinkGrabState"), 8),  # carries, flies, swims, uses something
    (_LAYOUT, COLLISION_BYTES),
    (COLLISIONS, COLLISION_BYTES),
)
"""What a button may change: address and size."""


class HealthGuard:
    """Counts the quarter hearts that are lost; those won back do not count.

    It speaks up while there is time: when the next hit could take more than the limit allows, or
    kill.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lost = most, 0
        self._before: int | None = None

    def look(self, ram: RamBlocks) -> Choice | None:
        """A failure once the next hit could be too much; a player who is dying has died."""
        if is_dying(ram):
            return failed("died", "the player has no health left")
        health = ram.u8(_HEALTH)
        if self._before is not None:
            self._lost += max(0, self._before - health)
        self._before = health
        if self._lost and (self._lost + HARDEST_HIT > self._most or health <= HARDEST_HIT):
            return failed("hurt", f"{self._lost} quarter hearts lost, {health} are left")
        return None


class ProgressGuard:
    """Counts steps that lead nowhere: pressing without effect, waiting without end."""

    def __init__(self, limits: OptionLimits) -> None:
        self._limits = limits
        self._still = self._waited = 0
        self._seen = b""

    def look(self, ram: RamBlocks, action: Action) -> Choice | None:
        """A failure where nothing has happened for too long; `action` is what is pressed now."""
        seen = b"".join(ram.block(where, size) for where, size in _SEEN)
        pressed = action != Action.NOP
        if seen != self._seen:
            self._still = 0
        elif pressed and not is_text(ram):  # the pages of a text look all the same
            self._still += 1
        self._waited = 0 if pressed else self._waited + 1
        self._seen = seen
        if self._waited > self._limits.most_waiting:
            return _waited_too_long(ram, self._waited)
        if self._still > self._limits.still_steps:
            return failed("no_progress", f"{self._still} steps of {action.name} changed nothing")
        return None


class Guarded:
    """An option with limits."""

    def __init__(self, option: Option, limits: OptionLimits, *, stays: bool) -> None:
        self._option, self._limits, self._stays = option, limits, stays
        self._health = HealthGuard(limits.most_quarter_hearts_lost)
        self._progress = ProgressGuard(limits)
        self._room: tuple[int, int] | None = None
        self._steps = 0
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        """What the option says, or why it is given up."""
        if self._end is not None:
            return self._end
        choice = self._choose(ram)
        if choice.over:
            self._end = choice
        return choice

    def _choose(self, ram: RamBlocks) -> Choice:
        if not is_running(ram):
            return failed("no_control", "no game is being played")
        if (trouble := self._health.look(ram)) is not None and trouble.cause == "died":
            return trouble
        choice = self._option.next(ram)
        if choice.over:
            return choice
        return trouble or self._wrong_room(ram) or self._late() or self._stuck(ram, choice)

    def _wrong_room(self, ram: RamBlocks) -> Choice | None:
        here = ram.u8(_GROUP), ram.u8(_ROOM)
        if self._room is None:
            self._room = here
        if self._stays and here != self._room:
            return failed("left_room", f"in room {here[0]}/{here[1]}, which was not asked for")
        return None

    def _late(self) -> Choice | None:
        self._steps += 1
        if self._steps > self._limits.most_steps:
            return failed("timeout", f"not done after {self._limits.most_steps} steps")
        return None

    def _stuck(self, ram: RamBlocks, choice: Choice) -> Choice:
        return self._progress.look(ram, choice.action) or choice


def _waited_too_long(ram: RamBlocks, steps: int) -> Choice:
    if has_control(ram):
        return failed("no_progress", f"{steps} steps of waiting")
    return failed("no_control", f"the game has not listened for {steps} steps")
