"""Where episodes start: save states, one of which is chosen for each episode.

NoStartError    the game did not come from power-on to a point where the player can act
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from rlaif.game.actions import Action
from rlaif.game.blocks import read_blocks
from rlaif.game.emulator import Emulator
from rlaif.game.predicates import has_control
from rlaif.trainer.env.recorder import Keyframe

POWER_ON = "power-on"
"""Provenance of the state that the game itself leads to."""

_PRESS_FRAMES = 8
_BOOT_FRAMES_MAX = 6_000
"""100 seconds of game: longer than any boot screen, shorter than an intro."""


class NoStartError(Exception):
    """The game did not come to a point where the player can act."""


@dataclass(frozen=True)
class Start:
    """A state at which an episode can start.

    Attributes:
        state: Save state.
        provenance: Where it comes from: `power-on`, a file's name, an archive's cell.
        keyframe: The same state as captures store it.
    """

    state: bytes
    provenance: str
    keyframe: Keyframe

    @classmethod
    def of(cls, state: bytes, provenance: str) -> "Start":
        """Pack a save state; about 1 ms."""
        return cls(state, provenance, Keyframe.of(state))


class StartSource(Protocol):
    """Says where the next episode starts."""

    def choose(self, rng: np.random.Generator) -> Start:
        """A start, drawn with `rng` alone: the same generator state gives the same choice."""
        ...


class StartSet:
    """A fixed set of starts, drawn by weight."""

    def __init__(self, starts: Sequence[Start], weights: Sequence[float] = ()) -> None:
        """Draw from these.

        Args:
            starts: At least one.
            weights: One for each start, none negative, not all 0; empty draws them alike.

        Raises:
            ValueError: No start, or weights that do not fit.
        """
        if not starts:
            raise ValueError("no start: give at least one save state")
        shares = np.asarray(weights if len(weights) else np.ones(len(starts)), dtype=np.float64)
        if len(shares) != len(starts) or (shares < 0).any() or shares.sum() <= 0:
            raise ValueError(
                f"{len(starts)} starts and weights {list(weights)}: give one weight a start, "
                "none negative and not all 0"
            )
        self._starts = tuple(starts)
        self._shares = shares / shares.sum()

    def choose(self, rng: np.random.Generator) -> Start:
        """One of the starts."""
        if len(self._starts) == 1:
            return self._starts[0]
        return self._starts[int(rng.choice(len(self._starts), p=self._shares))]


def start_set(emulator: Emulator, paths: Sequence[Path], weights: Sequence[float] = ()) -> StartSet:
    """The starts in these files; without files the state that power-on leads to.

    Raises:
        NoStartError: No control within 100 seconds of game: pass a save state.
        SaveStateError: A file is not a save state of this game and emulator version.
        ValueError: The weights do not fit.
        OSError: A file cannot be read.
    """
    if not paths:
        return StartSet([Start.of(initial_state(emulator, None), POWER_ON)])
    starts = [Start.of(initial_state(emulator, path), path.name) for path in paths]
    return StartSet(starts, weights)


def initial_state(emulator: Emulator, path: Path | None) -> bytes:
    """The save state at which episodes start; the emulator is left in it.

    Without a path the game is started from power-on, START pressed now and then, until the player
    has control. The same ROM gives the same state.

    Raises:
        NoStartError: No control within 100 seconds of game: pass a save state.
        SaveStateError: The file is not a save state of this emulator version.
        OSError: The file cannot be read.
    """
    if path is not None:
        state = path.read_bytes()
        emulator.load_state(state)
        return state
    for _ in range(_BOOT_FRAMES_MAX // (2 * _PRESS_FRAMES)):
        emulator.step(Action.START, _PRESS_FRAMES)
        emulator.step(Action.NOP, _PRESS_FRAMES)
        if has_control(read_blocks(emulator)):
            emulator.tick(_PRESS_FRAMES)
            return emulator.save_state()
    raise NoStartError(
        f"the player had no control within {_BOOT_FRAMES_MAX} frames of power-on: make a save "
        "state in play and set TRAINER_INITIAL_STATE_PATH to it"
    )
