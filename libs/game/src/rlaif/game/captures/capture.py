"""Builds captures from actions and digests, and packs keyframes."""

import hashlib
from typing import NamedTuple

import zstandard

from rlaif.contracts.game.captures import Capture, EmulatorIdentity, GameIdentity
from rlaif.contracts.model import Sha256
from rlaif.game.machine.actions import encode_actions

LARGEST_STATE_BYTES = 4 * 1024 * 1024
"""A PyBoy state has 150 to 300 kB; a zstd frame with a larger size is rejected unread."""

_LEVEL = 3
"""zstd level: 2-12 kB per state in about 1 ms; higher levels gain little."""


class KeyframeError(ValueError):
    """The packed keyframe is damaged, or is not that of the capture."""


class PackedKeyframe(NamedTuple):
    """A packed save state."""

    data: bytes  # zstd frame
    sha256: Sha256  # of the unpacked state; names the object


def segment_id(episode_id: str, index: int) -> str:
    """The id of segment number `index` of an episode; ValueError if it exceeds 64 characters."""
    made = f"{episode_id}-s{index:05d}"
    if len(made) > 64:
        raise ValueError(f"segment id {made!r} is longer than 64 characters")
    return made


def pack_keyframe(state: bytes) -> PackedKeyframe:
    """Compress a save state."""
    packed: bytes = zstandard.ZstdCompressor(level=_LEVEL).compress(state)
    return PackedKeyframe(packed, hashlib.sha256(state).hexdigest())


def unpack_keyframe(packed: bytes, sha256: Sha256) -> bytes:
    """Decompress a packed keyframe and check its digest.

    Raises:
        KeyframeError: It is damaged, too large, or does not match `sha256`.
    """
    try:
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= LARGEST_STATE_BYTES:
            raise KeyframeError(f"keyframe claims {size} bytes, the limit is {LARGEST_STATE_BYTES}")
        state: bytes = zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError as error:
        raise KeyframeError(f"keyframe cannot be read: {error}") from error
    found = hashlib.sha256(state).hexdigest()
    if found != sha256:
        raise KeyframeError(f"keyframe has digest {found}, the capture names {sha256}")
    return state


class SegmentRecorder:
    """Records the actions of one environment and extracts captures from them.

    It keeps every action since the keyframe: those before a segment are the capture's prefix.

        recorder = SegmentRecorder(...)
        recorder.keyframe(sha256_of_state, step=0)     # state saved now
        recorder.start_segment(ram_digest_now)
        recorder.add_step(action)                      # after each emulator step
        recorder.add_step(action, wait=frames)         # a step followed by frames without a button
        capture = recorder.finish_segment(...)         # digest after the last step
    """

    def __init__(
        self,
        *,
        run_id: str,
        env_id: str,
        game: GameIdentity,
        emulator: EmulatorIdentity,
        frame_skip: int,
    ) -> None:
        self._run_id, self._env_id = run_id, env_id
        self._game, self._emulator, self._frame_skip = game, emulator, frame_skip
        self._keyframe_sha256: Sha256 | None = None
        self._keyframe_step = 0
        self._actions: list[int] = []
        self._waits: list[tuple[int, int]] = []
        self._start: int | None = None
        self._start_ram_sha256: Sha256 = ""

    @property
    def steps_since_keyframe(self) -> int:
        return len(self._actions)

    @property
    def frames_since_keyframe(self) -> int:
        return len(self._actions) * self._frame_skip + sum(frames for _, frames in self._waits)

    @property
    def in_segment(self) -> bool:
        return self._start is not None

    @property
    def segment_steps(self) -> int:
        return 0 if self._start is None else len(self._actions) - self._start

    def keyframe(self, sha256: Sha256, *, step: int) -> None:
        """Start from a save state taken at emulator step `step`; a started segment is dropped."""
        self._keyframe_sha256 = sha256
        self._keyframe_step = step
        self._actions.clear()
        self._waits.clear()
        self._start = None

    def start_segment(self, ram_sha256: Sha256) -> None:
        """Start a segment before the next action; ValueError without a keyframe."""
        if self._keyframe_sha256 is None:
            raise ValueError("no keyframe: save a state and call keyframe() before a segment")
        self._start = len(self._actions)
        self._start_ram_sha256 = ram_sha256

    def add_step(self, action: int, *, wait: int = 0) -> None:
        """Add a step that was followed by `wait` game frames without a button."""
        if wait:
            self._waits.append((len(self._actions), wait))
        self._actions.append(action)

    def drop_segment(self) -> None:
        """Drop the started segment; its actions stay in the prefix of the next one."""
        self._start = None

    def finish_segment(
        self,
        *,
        episode_id: str,
        index: int,
        ram_sha256: Sha256,
        env_step: int,
        ended: str = "running",
        policy_iteration: int = 0,
        reward_model_version: int | None = None,
        selected_by: str = "uniform",
    ) -> Capture:
        """Return the capture; `ram_sha256` is the RAM after its last step, `env_step` the run's.

        `ended` is running, terminated or truncated; `reward_model_version` that of the champion.

        Raises:
            ValueError: No segment was started, or it has no step.
        """
        if self._start is None or self._keyframe_sha256 is None or not self.segment_steps:
            raise ValueError("no segment to finish: start one and play at least one step")
        start, self._start = self._start, None
        return Capture.model_validate(
            {
                "segment_id": segment_id(episode_id, index),
                "episode_id": episode_id,
                "run_id": self._run_id,
                "env_id": self._env_id,
                "game": self._game,
                "emulator": self._emulator,
                "frame_skip": self._frame_skip,
                "keyframe_sha256": self._keyframe_sha256,
                "prefix_actions": encode_actions(self._actions[:start]),
                "actions": encode_actions(self._actions[start:]),
                "prefix_waits": [wait for wait in self._waits if wait[0] < start],
                "waits": [(step - start, n) for step, n in self._waits if step >= start],
                "start_step": self._keyframe_step + start,
                "start_ram_sha256": self._start_ram_sha256,
                "end_ram_sha256": ram_sha256,
                "ended": ended,
                "env_step": env_step,
                "policy_iteration": policy_iteration,
                "reward_model_version": reward_model_version,
                "selected_by": selected_by,
            }
        )
