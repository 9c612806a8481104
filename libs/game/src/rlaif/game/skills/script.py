"""Skills as scripts: each `yield` is one base step.

    def wave(ram: RamBlocks) -> Script:
        ram = yield Action.UP        # pressed in this step; the RAM is that of the next one
        return done()

A part of a script, delegated to with `yield from`, returns the RAM that it received last.
"""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, Self

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks

Status = Literal["running", "done", "failed"]

Cause = Literal[
    "timeout", "hurt", "died", "left_room", "no_progress", "unreachable", "no_control", "impossible"
]
"""Why an option failed. `impossible`: a precondition does not hold (not owned, nothing there)."""

FRAMES_OF_A_STEP = 4
"""Length of a base step; limits are counted in such steps."""


@dataclass(frozen=True)
class Choice:
    """One step of an option. The action is valid while it runs; the reason is for logs."""

    status: Status
    action: Action = Action.NOP
    cause: Cause | None = None  # of a failure, else None
    reason: str = ""

    @cached_property
    def over(self) -> bool:
        return self.status != "running"


class Option(Protocol):
    """A running skill; after its end it returns the same choice again."""

    def next(self, ram: RamBlocks) -> Choice: ...


@dataclass(frozen=True)
class OptionLimits:
    """When an option is aborted; counted in steps of `frames` frames."""

    frames: int = FRAMES_OF_A_STEP
    most_steps: int = 200  # per option; 13 seconds of the game
    most_quarter_hearts_lost: int = 6  # fails with `hurt` before a hit could exceed this
    most_waiting: int = 75  # consecutive steps without a button
    still_steps: int = 25  # consecutive buttons that change nothing

    def scaled(self, frame_skip: int) -> Self:
        """The same durations in steps of another length."""
        if frame_skip < 1:
            raise ValueError(f"frame_skip must be at least 1, not {frame_skip}")
        share = self.frames / frame_skip
        return replace(
            self,
            frames=frame_skip,
            most_steps=math.ceil(self.most_steps * share),
            most_waiting=math.ceil(self.most_waiting * share),
            still_steps=math.ceil(self.still_steps * share),
        )


_RUNNING = tuple(Choice("running", action) for action in Action)


def running(action: Action = Action.NOP) -> Choice:
    """Press a button and continue."""
    return _RUNNING[action]


def done(reason: str = "") -> Choice:
    """A successful end."""
    return Choice("done", reason=reason)


def failed(cause: Cause, reason: str) -> Choice:
    """A failure."""
    return Choice("failed", cause=cause, reason=reason)


Script = Generator[Action, RamBlocks, Choice]
Part = Generator[Action, RamBlocks, RamBlocks]


class GiveUp(Exception):
    """Raised by a script that cannot continue."""

    def __init__(self, cause: Cause, reason: str) -> None:
        super().__init__(reason)
        self.cause, self.reason = cause, reason


class Scripted:
    """A script as an option."""

    def __init__(self, script: Callable[[RamBlocks], Script]) -> None:
        self._script = script
        self._step: Callable[[RamBlocks], Action] = self._begin
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        if self._end is not None:
            return self._end
        try:
            return _RUNNING[self._step(ram)]
        except StopIteration as end:
            self._end = end.value
        except GiveUp as failure:
            self._end = failed(failure.cause, failure.reason)
        return self._end

    def _begin(self, ram: RamBlocks) -> Action:
        begun = self._script(ram)
        self._step = begun.send
        return next(begun)


def wait(ram: RamBlocks, steps: int) -> Part:
    """Press nothing for some steps."""
    for _ in range(steps):
        ram = yield Action.NOP
    return ram


def tap(action: Action) -> Part:
    """Press a button and release it, so that the next press counts as a new one."""
    yield action
    return (yield Action.NOP)
