"""Random play of a game on the memory map, captured with its observations and replayed.

For tests and `benchmarks/replay_identity.py`; `rlaif.game.replay_check` does the same for any ROM.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.game.captures.replay import replay
from rlaif.game.encoder.reference import encode_into
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.replay_check.segments import Play, RecordedSegment, captured_segments

__all__ = ["Play", "RecordedSegment", "boot", "check_replay", "random_segments"]

BOOT_PRESSES = 60
_PRESS_FRAMES = 8


def boot(emulator: Emulator) -> None:
    """Press START now and then, which brings most games from power-on to play."""
    for _ in range(BOOT_PRESSES):
        emulator.step(Action.START, _PRESS_FRAMES)
        emulator.step(Action.NOP, _PRESS_FRAMES)


def random_segments(
    emulator: Emulator, cartridge: Cartridge, play: Play, *, episode_id: str = "selfcheck"
) -> Iterator[RecordedSegment]:
    """Play at random from where the emulator stands, without rendering, and capture.

    Yields:
        Each segment once it has been played, with its observations.
    """
    return captured_segments(
        emulator, cartridge.identity, play, episode_id=episode_id, observe=observed
    )


def check_replay(emulator: Emulator, recorded: RecordedSegment, rom_sha256: str) -> bool:
    """Replay a segment with every step drawn.

    Returns:
        Whether the observations are the same, bit for bit.

    Raises:
        ReplayMismatchError: The RAM differs.
    """
    steps = len(recorded.capture.actions)
    same = True
    for played in replay(
        emulator,
        recorded.capture,
        recorded.keyframe.data,
        rom_sha256=rom_sha256,
        render_steps=frozenset(range(steps)),
    ):
        expected = recorded.observations[played.index]
        same &= observed(emulator).tobytes() == expected.tobytes()
    return same


def observed(emulator: Emulator) -> npt.NDArray[np.float32]:
    """The observation of this moment, `[128]` float32."""
    observation = np.empty(OBSERVATION_SIZE, dtype=np.float32)
    encode_into(read_blocks(emulator), observation)
    return observation
