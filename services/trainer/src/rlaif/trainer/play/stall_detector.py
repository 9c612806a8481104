"""Notices a game that will not go on: its screen stays off, or its memory stands still."""

from typing import Any, Literal

from rlaif.game.machine.emulator import Emulator

Fault = Literal["screen_off", "frozen"]

SCREEN_OFF_FRAMES = 300
"""5 s. A game switches its screen off for a few frames while it loads a room."""

FROZEN_FRAMES = 600
"""10 s without one changed byte of work RAM; a game that runs counts its frames there."""


class StallDetector:
    """Looks at one emulator: after each decision step while it suspects, else now and then."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._off = self._same = 0

    def begin(self) -> None:
        self._off = self._same = 0

    @property
    def suspects(self) -> bool:
        return bool(self._off or self._same)

    def state_dict(self) -> dict[str, Any]:
        return {"off": self._off, "same": self._same}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._off, self._same = state["off"], state["same"]

    def check(self, still: bool, frames: int) -> Fault | None:
        """What is wrong after a step, if anything; `still`: no byte of work RAM changed."""
        self._off = 0 if self._emulator.screen_is_on else self._off + frames
        self._same = self._same + frames if still else 0
        if self._off >= SCREEN_OFF_FRAMES:
            return "screen_off"
        return "frozen" if self._same >= FROZEN_FRAMES else None
