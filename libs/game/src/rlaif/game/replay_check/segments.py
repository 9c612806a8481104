"""Random play of any game, captured as segments with their keyframes."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.captures import Capture, GameIdentity
from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder, pack_keyframe
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator

_LONGEST_WAIT = 20

Observe = Callable[[Emulator], npt.NDArray[np.float32]]
"""The observation after a step, `[128]` float32."""


@dataclass(frozen=True)
class Play:
    """Parameters of random play."""

    segments: int
    steps: int = 75  # emulator steps per segment
    frame_skip: int = 4  # game frames per emulator step
    segments_per_keyframe: int = 4  # segments that share one keyframe
    gap_steps: int = 3  # steps between a keyframe and its first segment
    seed: int = 0
    waits: float = 0.05  # share of the steps followed by up to 20 frames without a button


def _nothing_seen() -> npt.NDArray[np.float32]:
    return np.empty((0, OBSERVATION_SIZE), dtype=np.float32)


@dataclass(frozen=True)
class RecordedSegment:
    """A captured segment and its observations, `[0, 128]` without `observe`."""

    capture: Capture
    keyframe: PackedKeyframe
    observations: npt.NDArray[np.float32] = field(default_factory=_nothing_seen)  # `[T, 128]`


def captured_segments(
    emulator: Emulator,
    game: GameIdentity,
    play: Play,
    *,
    episode_id: str = "replay-check",
    observe: Observe | None = None,
) -> Iterator[RecordedSegment]:
    """Play at random from the emulator's state, without rendering; yields captured segments."""
    rng = random.Random(play.seed)
    recorder = SegmentRecorder(
        run_id="replay-check",
        env_id="env-0",
        game=game,
        emulator=emulator.identity,
        frame_skip=play.frame_skip,
    )
    step = 0
    keyframe: PackedKeyframe | None = None
    for index in range(play.segments):
        if keyframe is None or index % play.segments_per_keyframe == 0:
            # The recorder still counts from the previous keyframe.
            step += recorder.steps_since_keyframe + 1
            # A direction is still held when the state is saved.
            emulator.step(rng.choice((Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)), 4)
            keyframe = pack_keyframe(emulator.save_state())
            recorder.keyframe(keyframe.sha256, step=step)
            for _ in range(play.gap_steps):
                _play_step(emulator, recorder, rng, play)
        recorder.start_segment(emulator.ram_digest())
        seen = [_nothing_seen()]
        for _ in range(play.steps):
            _play_step(emulator, recorder, rng, play)
            if observe is not None:
                seen.append(observe(emulator)[np.newaxis])
        capture = recorder.finish_segment(
            episode_id=episode_id,
            index=index,
            ram_sha256=emulator.ram_digest(),
            env_step=step + recorder.steps_since_keyframe,
        )
        yield RecordedSegment(capture, keyframe, np.concatenate(seen))


def _play_step(
    emulator: Emulator, recorder: SegmentRecorder, rng: random.Random, play: Play
) -> None:
    action = rng.randrange(len(Action))
    emulator.step(action, play.frame_skip)
    wait = rng.randint(1, _LONGEST_WAIT) if rng.random() < play.waits else 0
    if wait:
        emulator.tick(wait)
    recorder.add_step(action, wait=wait)
