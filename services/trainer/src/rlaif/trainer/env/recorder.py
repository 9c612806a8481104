"""Decides which segments of an episode are captured; asks the emulator only at their borders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rlaif.contracts.captures import GameIdentity
from rlaif.game.capture import SegmentRecorder, pack_keyframe
from rlaif.game.emulator import Emulator
from rlaif.trainer.runs.spool import SpooledCapture

Ended = Literal["running", "terminated", "truncated"]


@dataclass(frozen=True)
class Keyframe:
    """A save state as it is stored.

    Attributes:
        packed: zstd-compressed.
        sha256: Digest of the uncompressed state.
    """

    packed: bytes
    sha256: str

    @classmethod
    def of(cls, state: bytes) -> "Keyframe":
        """Pack a save state; about 1 ms."""
        return cls(*pack_keyframe(state))


@dataclass(frozen=True)
class CaptureContext:
    """What the captures of one fragment have in common; see `Capture` for the fields."""

    env_step: int = 0
    policy_iteration: int = 0
    reward_model_version: int | None = None


class EnvRecorder:
    """Records one environment.

    A segment is `segment_steps` decision steps of one episode; only whole ones are captured. The
    RAM digests that make a capture verifiable (0.7 ms each) are taken of selected segments alone,
    and a new keyframe (33 ms) only when one would start too far from the last.

    Attributes:
        context: Goes into the captures from now on.
    """

    def __init__(
        self,
        *,
        run_id: str,
        env_id: str,
        game: GameIdentity,
        emulator: Emulator,
        frame_skip: int,
        segment_steps: int,
        keyframe_steps: int,
        select: Callable[[], bool],
    ) -> None:
        """Record `emulator`; `select()` says at the start of each segment if it is captured."""
        self._emulator = emulator
        self._segment_steps = segment_steps
        self._keyframe_frames = keyframe_steps * frame_skip
        self._select = select
        self._recorder = SegmentRecorder(
            run_id=run_id,
            env_id=env_id,
            game=game,
            emulator=emulator.identity,
            frame_skip=frame_skip,
        )
        self._keyframe: Keyframe | None = None
        self._episode_id = ""
        self._step = 0
        self.context = CaptureContext()

    def begin_episode(
        self, episode_id: str, keyframe: Keyframe, warm_up: Sequence[tuple[int, int]]
    ) -> None:
        """An episode starts: `warm_up`, (action, frames waited), was played on `keyframe`."""
        self._episode_id = episode_id
        self._step = 0
        self._keyframe = keyframe
        self._recorder.keyframe(keyframe.sha256, step=-len(warm_up))
        for action, wait in warm_up:
            self._recorder.add(action, wait=wait)

    def before_step(self) -> None:
        """At a segment's first step: decide, and note where it starts."""
        if self._step % self._segment_steps or not self._select():
            return
        if self._recorder.frames_since_keyframe > self._keyframe_frames:
            self._keyframe = Keyframe.of(self._emulator.save_state())
            self._recorder.keyframe(self._keyframe.sha256, step=self._step)
        self._recorder.start_segment(self._emulator.ram_digest())

    def after_step(self, action: int, ended: Ended, wait: int = 0) -> SpooledCapture | None:
        """Note the action and the frames waited after it.

        At a selected segment's last step, return its capture.
        """
        self._recorder.add(action, wait=wait)
        self._step += 1
        if not self._recorder.in_segment or self._step % self._segment_steps:
            return None
        assert self._keyframe is not None
        capture = self._recorder.finish_segment(
            episode_id=self._episode_id,
            index=self._step // self._segment_steps - 1,
            ram_sha256=self._emulator.ram_digest(),
            ended=ended,
            env_step=self.context.env_step,
            policy_iteration=self.context.policy_iteration,
            reward_model_version=self.context.reward_model_version,
        )
        return SpooledCapture(capture, self._keyframe.packed)
