"""Random play of the built-in game, captured with its observations, and its replay."""

import contextlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.game.captures.replay import replay
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.replay_check.segments import Play, RecordedSegment, captured_segments

_BOOT_PRESSES = 60
_PRESS_FRAMES = 8


def boot(emulator: Emulator) -> None:
    """Press START occasionally, which gets most games from power-on into play."""
    for _ in range(_BOOT_PRESSES):
        emulator.step(Action.START, _PRESS_FRAMES)
        emulator.step(Action.NOP, _PRESS_FRAMES)


def random_segments(
    emulator: Emulator, cartridge: Cartridge, play: Play, *, episode_id: str = "ep-random"
) -> Iterator[RecordedSegment]:
    """Play randomly from the emulator's current state, without rendering, and capture.

    Yields:
        Each segment when it is complete, with its observations.
    """
    return captured_segments(
        emulator, cartridge.identity, play, episode_id=episode_id, observe=observed
    )


def recorded_play(play: Play) -> list[RecordedSegment]:
    """Segments of one episode, "ep-1", of random play of the built-in game."""
    cartridge = load_cartridge()
    with contextlib.closing(Emulator(cartridge.data)) as emulator:
        boot(emulator)
        return list(random_segments(emulator, cartridge, play, episode_id="ep-1"))


def replayed_observations(
    emulator: Emulator, recorded: RecordedSegment, rom_sha256: str
) -> npt.NDArray[np.float32]:
    """Replay a segment with rendering; return its observations, `[T, 128]` float32.

    Raises:
        ReplayMismatchError: The RAM differs.
    """
    steps = len(recorded.capture.actions)
    seen = np.empty((steps, OBSERVATION_SIZE), dtype=np.float32)
    for played in replay(
        emulator,
        recorded.capture,
        recorded.keyframe.data,
        rom_sha256=rom_sha256,
        render_steps=frozenset(range(steps)),
    ):
        seen[played.index] = observed(emulator)
    return seen


def observed(emulator: Emulator) -> npt.NDArray[np.float32]:
    """Return the current observation, `[128]` float32."""
    return encode(read_blocks(emulator))
