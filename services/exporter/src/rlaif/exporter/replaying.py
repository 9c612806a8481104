"""Replays a capture, and records and films every step as the files of a segment."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.captures import Capture
from rlaif.contracts.game.films import Patch, pack_film
from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.contracts.game.segments import StateRecord
from rlaif.game.captures.replay import frames_after_steps, replay, replay_frames
from rlaif.game.description.describe import describe
from rlaif.game.description.words import GameWords
from rlaif.game.encoder.reference import encode_into
from rlaif.game.machine.actions import ACTION_NAMES
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.pictures import png, webp
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.rooms import camera
from rlaif.game.memory.state import decode

Picture = npt.NDArray[np.uint8]
"""`[144, 160, 3]`, RGB."""


class Film:
    """The film of one segment.

    A full screen takes 3 kB, a change about 0.3 kB: 75 steps of Seedling Vale take about 25 kB.
    """

    def __init__(self, segment_id: str) -> None:
        self._segment_id = segment_id
        self._last: Picture | None = None
        self._patches: list[Patch] = []

    def add(
        self, step: int, frame: int, picture: Picture, camera: tuple[int, int] = (0, 0)
    ) -> None:
        """Add the screen after an emulator step, `frame` game frames into the segment."""
        top, bottom, left, right = _changed(self._last, picture)
        part = picture[top:bottom, left:right]
        data = webp(np.ascontiguousarray(part)) if part.size else b""
        self._patches.append(
            Patch(step, frame, left, top, right - left, bottom - top, data, *camera)
        )
        self._last = picture.copy()

    def packed(self) -> bytes:
        """The film as stored; ValueError before the first picture."""
        return pack_film(self._segment_id, self._patches)


def film_steps(steps: int, most: int) -> frozenset[int]:
    """Emulator steps in a film: all, or every n-th and the last, about `most`."""
    if not most:
        return frozenset()
    return frozenset(range(0, steps, -(-steps // most))) | {steps - 1}


def _changed(before: Picture | None, after: Picture) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) of the changed region, top and left even; all 0 for no change.

    Animated WebP, in which films are served, places pictures at even pixels only.
    """
    rows, columns = after.shape[:2]
    if before is None:
        return 0, rows, 0, columns
    differs = (before != after).any(axis=2)
    if not differs.any():
        return 0, 0, 0, 0
    down, across = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    return int(down[0]) & ~1, int(down[-1]) + 1, int(across[0]) & ~1, int(across[-1]) + 1


@dataclass(frozen=True)
class SegmentFiles:
    """A verified segment as bytes, not stored yet.

    Attributes:
        states: states.jsonl, one line per emulator step.
        observations: observations.npy, `[T, 128]` float32.
        pictures: Emulator step → PNG of the screen after it, in order.
        replayed_frames: Replayed game frames, including the prefix.
        film: Every step, lossless (`rlaif.contracts.game.films`); None if films are off.
    """

    states: bytes
    observations: bytes
    pictures: dict[int, bytes]
    replayed_frames: int
    film: bytes | None = None


def replay_segment(
    emulator: Emulator,
    capture: Capture,
    packed_keyframe: bytes,
    *,
    rom_sha256: str,
    words: GameWords,
    png_interval_frames: int,
    film_pictures: int = 0,
) -> SegmentFiles:
    """Replay a capture and record every step. Blocks for about a second.

    The film has at most `film_pictures` pictures; 0 disables it.

    Replaces the state of `emulator`, which runs the ROM `rom_sha256` of this game.

    Raises:
        ReplayError: Wrong game or emulator, or the RAM differs from the capture.
        KeyframeError: The keyframe is damaged.
    """
    steps = len(capture.actions)
    wanted = picture_steps(frames_after_steps(capture), png_interval_frames)
    filmed = film_steps(steps, film_pictures)
    observations = np.empty((steps, OBSERVATION_SIZE), dtype=np.float32)
    lines: list[str] = []
    pictures: dict[int, bytes] = {}
    film = Film(capture.segment_id)
    for played in replay(
        emulator, capture, packed_keyframe, rom_sha256=rom_sha256, render_steps=wanted | filmed
    ):
        ram = read_blocks(emulator)
        encode_into(ram, observations[played.index])
        record = StateRecord(
            step=played.index,
            frame=played.frame,
            action=ACTION_NAMES[played.action],
            state=describe(decode(ram), words),
        )
        lines.append(record.model_dump_json() + "\n")
        if played.index in wanted:
            pictures[played.index] = png(emulator.screen())
        if played.index in filmed:
            film.add(played.index, played.frame, emulator.screen(), camera(emulator, ram))
    return SegmentFiles(
        states="".join(lines).encode(),
        observations=_npy(observations),
        pictures=pictures,
        replayed_frames=replay_frames(capture),
        film=film.packed() if filmed else None,
    )


def picture_steps(frames: Sequence[int], interval_frames: int) -> frozenset[int]:
    """Emulator steps with a picture: the first, the last, and one per interval.

    `frames` are the cumulative game frames after each step, waiting included. A step longer than
    the interval gets one picture.
    """
    crossing = {
        step
        for step, (before, after) in enumerate(pairwise((0, *frames)))
        if after // interval_frames > before // interval_frames
    }
    return frozenset(crossing | {0, len(frames) - 1})


def _npy(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
