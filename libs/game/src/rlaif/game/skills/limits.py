"""Limits of options: each class wraps an option and ends it by steps, health, room or progress."""

from rlaif.game.machine.actions import DIRECTIONS, Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import COMPANION, OBJECT_DIRECTION, address
from rlaif.game.memory.predicates import has_control, is_dying, is_running, is_text
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.room_watcher import place_of
from rlaif.game.skills.script import (
    FRAMES_OF_A_STEP,
    Choice,
    Option,
    OptionLimits,
    failed,
    running,
)

HARDEST_HIT = 4
"""Maximum quarter hearts per hit; harder hits occur only late in Oracle of Seasons."""

_HEALTH = address("wLinkHealth")
_LAYOUT = address("wRoomLayout")
_WATCHED = (
    (address("w1Link.direction"), 8),  # facing and position
    (COMPANION + OBJECT_DIRECTION, 8),  # those of a ridden animal
    (address("wInventoryB"), 0x48),  # possessions and amounts
    (address("wTextIsActive"), 6),
    (address("wOpenedMenuType"), 5),
    (address("wLinkGrabState"), 8),  # carrying, flying, swimming, using an item
    (_LAYOUT, COLLISION_BYTES),
    (COLLISIONS, COLLISION_BYTES),
)
"""Memory that a button may change: address and size."""


class Bounded:
    """The limits of a policy's decision: steps and death. It presses at least once."""

    def __init__(self, option: Option, ram: RamBlocks, max_steps: int) -> None:
        self._option, self._max_steps = option, max_steps
        self._alive, self._steps = ram.u8(_HEALTH) > 0, 0
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        if self._end is not None:
            return self._end
        steps, self._steps = self._steps, self._steps + 1
        if steps and self._alive and is_dying(ram):
            choice = failed("died", "the player has no health left")
        else:
            choice = self._option.next(ram)
            if not choice.over:
                if steps < self._max_steps:
                    return choice
                choice = failed("timeout", f"not done after {self._max_steps} steps")
        if not steps:
            return running()
        self._end = choice
        return choice


class HealthGuard:
    """Counts lost quarter hearts; regained ones are not subtracted.

    It fails early: when the next hit could exceed the limit, or kill.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._lost = limit, 0
        self._before: int | None = None

    def check(self, ram: RamBlocks) -> Choice | None:
        """A failure if the next hit could exceed the limit, or if the player is dying."""
        if is_dying(ram):
            return failed("died", "the player has no health left")
        health = ram.u8(_HEALTH)
        if self._before is not None:
            self._lost += max(0, self._before - health)
        self._before = health
        if self._lost and (self._lost + HARDEST_HIT > self._limit or health <= HARDEST_HIT):
            return failed("hurt", f"{self._lost} quarter hearts lost, {health} are left")
        return None


class ProgressGuard:
    """Counts buttons without effect and steps of waiting."""

    def __init__(self, limits: OptionLimits) -> None:
        self._limits = limits
        self._still = self._waited = 0
        self._seen = b""

    def check(self, ram: RamBlocks, action: Action) -> Choice | None:
        """A failure if nothing has happened for too long; `action` is pressed in this step."""
        seen = b"".join(ram.block(where, size) for where, size in _WATCHED)
        pressed = action != Action.NOP
        if seen != self._seen:
            self._still = 0
        elif pressed and not is_text(ram):  # all pages of a text look the same
            self._still += 1
        self._waited = 0 if pressed else self._waited + 1
        self._seen = seen
        if self._waited > self._limits.most_waiting:
            if has_control(ram):
                return failed("no_progress", f"{self._waited} steps of waiting")
            return failed("no_control", f"no control for {self._waited} steps")
        if self._still > self._limits.still_steps:
            return failed("no_progress", f"{self._still} steps of {action.name} changed nothing")
        return None


class Guarded:
    """The limits of a planner's macro: also progress and, with `stays`, the room."""

    def __init__(self, option: Option, limits: OptionLimits, *, stays: bool) -> None:
        self._option, self._limits, self._stays = option, limits, stays
        self._health = HealthGuard(limits.most_quarter_hearts_lost)
        self._progress = ProgressGuard(limits)
        self._room: bytes | None = None
        self._steps = 0
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        if self._end is not None:
            return self._end
        choice = self._choose(ram)
        if choice.over:
            self._end = choice
        return choice

    def _choose(self, ram: RamBlocks) -> Choice:
        if not is_running(ram):
            return failed("no_control", "no game is being played")
        if (trouble := self._health.check(ram)) is not None and trouble.cause == "died":
            return trouble
        choice = self._option.next(ram)
        if choice.over:
            return choice
        trouble = trouble or self._wrong_room(ram) or self._late()
        return trouble or self._progress.check(ram, choice.action) or choice

    def _wrong_room(self, ram: RamBlocks) -> Choice | None:
        here = place_of(ram)
        if self._room is None:
            self._room = here
        if self._stays and here != self._room:
            return failed("left_room", f"in room {here[0]}/{here[1]}, which was not the target")
        return None

    def _late(self) -> Choice | None:
        self._steps += 1
        if self._steps > self._limits.most_steps:
            return failed("timeout", f"not done after {self._limits.most_steps} steps")
        return None


def base_steps(frames: int) -> int:
    """Number of emulator steps of `frames` frames that make one step of an option."""
    return max(1, FRAMES_OF_A_STEP // frames)


class Paced:
    """An option that chooses a button every `steps` emulator steps.

    In between a direction stays held, and a button is released.
    """

    def __init__(self, option: Option, steps: int) -> None:
        self._option, self._steps = option, steps
        self._left = 0
        self._held = running()

    def next(self, ram: RamBlocks) -> Choice:
        if self._left:
            self._left -= 1
            return self._held
        choice = self._option.next(ram)
        if not choice.over:
            self._left = self._steps - 1
            self._held = running(choice.action if choice.action in DIRECTIONS else Action.NOP)
        return choice
