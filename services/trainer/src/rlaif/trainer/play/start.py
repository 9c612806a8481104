"""Starts of episodes: save states and their selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import is_dying, is_running
from rlaif.game.starts.power_on import NoStartError, bring_to_control
from rlaif.game.starts.savestates import load_state_file
from rlaif.game.starts.waiting import plays_alone

POWER_ON = "power-on"
"""Provenance of the state that the game reaches by itself."""

DEMONSTRATION = "demonstration:"
"""Prefix of the provenance of states on a demonstration."""

EXPLORATION = "exploration:"
"""Prefix of the provenance of states from which the search plays (`exploring`)."""

PARTS = (DEMONSTRATION, EXPLORATION)
"""Prefixes of episodes that do not measure the policy from the run's own start."""

_LONGEST_SCENE_FRAMES = 6_000
_LOOK_EVERY = 8


@dataclass(frozen=True)
class Start:
    """A state at which an episode starts.

    Attributes:
        provenance: Its origin: `power-on`, a file's name, a state of the search.
        keyframe: The same state in the format of captures.
        from_play: Whether it was reached by play. Such states vary and need little warm-up.
        buttons: The warm-up to play, one base step each; None: drawn for each episode.
        plays_on: Completing the game does not end the episode.
        warm_up: (action, frames waited) of the steps played from there before an episode.
    """

    state: bytes
    provenance: str
    keyframe: PackedKeyframe
    from_play: bool = False
    buttons: tuple[int, ...] | None = None
    plays_on: bool = False
    warm_up: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, state: bytes, provenance: str) -> "Start":
        return cls(state, provenance, pack_keyframe(state))


class StartSource(Protocol):
    """Chooses where the next episode starts."""

    def choose(self, rng: np.random.Generator) -> Start:
        """A start, drawn with `rng` alone: the same generator state gives the same choice."""
        ...


class StartSet:
    """A fixed set of starts, drawn by weight."""

    def __init__(self, starts: Sequence[Start], weights: Sequence[float] = ()) -> None:
        """Draw from at least one start by `weights`; uniformly without them."""
        shares = np.asarray(weights if len(weights) else np.ones(len(starts)), dtype=np.float64)
        self._starts = tuple(starts)
        self._shares = shares / shares.sum()

    def choose(self, rng: np.random.Generator) -> Start:
        if len(self._starts) == 1:
            return self._starts[0]
        return self._starts[int(rng.choice(len(self._starts), p=self._shares))]


def start_set(
    emulator: Emulator, cartridge: Cartridge, states: Sequence[tuple[Path, float]]
) -> StartSet:
    """The starts in these files, drawn by these weights; the power-on state without any."""
    if not states:
        return StartSet([Start.of(initial_state(emulator, cartridge, None), POWER_ON)])
    starts = [Start.of(initial_state(emulator, cartridge, path), path.name) for path, _ in states]
    return StartSet(starts, [weight for _, weight in states])


def initial_state(emulator: Emulator, cartridge: Cartridge, path: Path | None) -> bytes:
    """The save state in a file, or that at which the player has control after power-on.

    Raises:
        NoStartError: The game did not reach play by itself: pass a save state.
        SaveStateError: The file cannot be read, or is no save state of this game and emulator.
    """
    if path is not None:
        return load_state_file(emulator, cartridge, path)
    bring_to_control(emulator, cartridge)
    return emulator.save_state()


def check_starts(cartridge: Cartridge, paths: Sequence[Path]) -> None:
    """Check that episodes can start: at each of these states, or at power-on without any.

    A game of unknown memory layout is assumed to be in play at a state.

    Raises:
        NoStartError: No button has an effect there, or the game did not reach play by itself.
        SaveStateError: A file cannot be read, or is no save state of this game and emulator.
    """
    emulator = new_emulator(cartridge)
    try:
        if not paths:
            bring_to_control(emulator, cartridge)
        for path in paths:
            load_state_file(emulator, cartridge, path)
            if cartridge.game != "other":
                _wait_for_a_button_that_matters(emulator, path)
    finally:
        emulator.close()


def _wait_for_a_button_that_matters(emulator: Emulator, path: Path) -> None:
    if not is_running(read_blocks(emulator)):
        raise NoStartError(
            f"{path} is not a state of play: the game shows its title or its files there"
        )
    for _ in range(_LONGEST_SCENE_FRAMES // _LOOK_EVERY):
        ram = read_blocks(emulator)
        if is_running(ram) and not is_dying(ram) and not plays_alone(ram):
            return
        emulator.tick(_LOOK_EVERY)
    raise NoStartError(
        f"no button had an effect in the {_LONGEST_SCENE_FRAMES} frames after {path}: the player "
        "dies there, or a scene has no end"
    )
