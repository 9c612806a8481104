"""Random play, captured: what proves on a given ROM that a replay is the same play.

The tests, the benchmark `benchmarks/replay_identity.py` and whoever brings another game use it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.contracts.captures import Capture
from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.game.actions import Action
from rlaif.game.blocks import read_blocks
from rlaif.game.capture import Keyframe, SegmentRecorder, pack_keyframe
from rlaif.game.cartridges import Cartridge
from rlaif.game.emulator import Emulator
from rlaif.game.encoder import encode_into
from rlaif.game.replay import replay

BOOT_PRESSES = 60
_PRESS_FRAMES = 8


@dataclass(frozen=True)
class Play:
    """How to play at random.

    Attributes:
        segments: How many to capture.
        steps: Decision steps a segment.
        frame_skip: Game frames a decision step.
        segments_per_keyframe: Segments that share one keyframe.
        gap_steps: Steps played between a keyframe and its first segment; the last action before a
            keyframe is always a direction, which is then still held.
        seed: Of the actions.
    """

    segments: int
    steps: int = 75
    frame_skip: int = 4
    segments_per_keyframe: int = 4
    gap_steps: int = 3
    seed: int = 0


@dataclass(frozen=True)
class RecordedSegment:
    """A captured segment and what was seen while it was played.

    Attributes:
        capture: The capture.
        keyframe: Its packed keyframe.
        observations: `[T, 128]` float32, after each step.
    """

    capture: Capture
    keyframe: Keyframe
    observations: npt.NDArray[np.float32]


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
        Each segment once it has been played.
    """
    rng = random.Random(play.seed)
    recorder = SegmentRecorder(
        run_id="selfcheck",
        env_id="env-0",
        game=cartridge.identity,
        emulator=emulator.identity,
        frame_skip=play.frame_skip,
    )
    step = 0
    keyframe: Keyframe | None = None
    for index in range(play.segments):
        if keyframe is None or index % play.segments_per_keyframe == 0:
            emulator.step(rng.choice((Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)), 4)
            step += 1
            keyframe = pack_keyframe(emulator.save_state())
            recorder.keyframe(keyframe.sha256, step=step)
            for _ in range(play.gap_steps):
                recorder.add(_played(emulator, rng, play))
        recorder.start_segment(emulator.ram_digest())
        observations = np.empty((play.steps, OBSERVATION_SIZE), dtype=np.float32)
        for row in observations:
            recorder.add(_played(emulator, rng, play))
            encode_into(read_blocks(emulator), row)
        capture = recorder.finish_segment(
            episode_id=episode_id,
            index=index,
            ram_sha256=emulator.ram_digest(),
            env_step=step + recorder.steps_since_keyframe,
        )
        yield RecordedSegment(capture, keyframe, observations)


def check_replay(emulator: Emulator, recorded: RecordedSegment, rom_sha256: str) -> bool:
    """Replay a segment with every step drawn.

    Returns:
        Whether the observations are the same, bit for bit.

    Raises:
        ReplayMismatchError: The RAM differs.
    """
    steps = len(recorded.capture.actions)
    observation = np.empty(OBSERVATION_SIZE, dtype=np.float32)
    same = True
    for played in replay(
        emulator,
        recorded.capture,
        recorded.keyframe.data,
        rom_sha256=rom_sha256,
        render_steps=frozenset(range(steps)),
    ):
        encode_into(read_blocks(emulator), observation)
        same &= observation.tobytes() == recorded.observations[played.index].tobytes()
    return same


def _played(emulator: Emulator, rng: random.Random, play: Play) -> int:
    action = rng.randrange(len(Action))
    emulator.step(action, play.frame_skip)
    return action
