"""What every option says at each decision step: a button, or how it ended and why."""

import math
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks

Status = Literal["running", "done", "failed"]

Cause = Literal[
    "timeout", "hurt", "died", "left_room", "no_progress", "unreachable", "no_control", "impossible"
]
"""Why an option failed. `impossible`: it cannot work as things are (not owned, nothing there)."""

HARDEST_HIT = 4
"""Quarter hearts that one hit may take; more is only seen late in Oracle of Seasons."""

FRAMES_OF_A_STEP = 4
"""Frames of the decision step that limits are counted in."""


@dataclass(frozen=True)
class Choice:
    """One step of an option. The action counts while it runs; the reason is for a person."""

    status: Status
    action: Action = Action.NOP
    cause: Cause | None = None  # of a failure, else None
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether the option has ended, well or badly."""
        return self.status != "running"


class Option(Protocol):
    """A small state machine; once over it stays over."""

    def next(self, ram: RamBlocks) -> Choice:
        """The button for this decision step, or the end."""
        ...


@dataclass(frozen=True)
class OptionLimits:
    """When an option is given up; counted in decision steps of `frames` frames."""

    frames: int = FRAMES_OF_A_STEP
    most_steps: int = 200  # of one option; 13 seconds of the game
    most_quarter_hearts_lost: int = 6  # it fails as hurt before a hit could take more than these
    most_waiting: int = 75  # in a row without pressing anything
    still_steps: int = 25  # of pressing buttons that change nothing

    def scaled(self, frame_skip: int) -> Self:
        """The same time in decision steps of another length."""
        if frame_skip < 1:
            raise ValueError(f"a decision step of {frame_skip} frames")
        share = self.frames / frame_skip
        return replace(
            self,
            frames=frame_skip,
            most_steps=math.ceil(self.most_steps * share),
            most_waiting=math.ceil(self.most_waiting * share),
            still_steps=math.ceil(self.still_steps * share),
        )


def done(reason: str = "") -> Choice:
    """The option has ended well."""
    return Choice("done", reason=reason)


def failed(cause: Cause, reason: str) -> Choice:
    """The option has ended badly."""
    return Choice("failed", cause=cause, reason=reason)
