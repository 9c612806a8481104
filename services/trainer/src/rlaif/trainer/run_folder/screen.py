"""The live picture of one environment of a runner, handed from that to the service.

    runs/{run_id}/screens/{runner}.rgb

A memory-mapped file with one slot. The writer bumps the sequence to an odd number, writes, and
bumps it to an even one (a seqlock); a reader that saw an odd or a changed sequence tries again
later. Nobody waits for anybody.
"""

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole

HEIGHT, WIDTH = 144, 160
BINS, BIN_SECONDS = 20, 0.5
"""Into how many stretches of time what was paid lately is summed, and how long one is."""

_HEADER = struct.Struct(f"<QQiiiiiiid{BINS}d")
_PIXELS = HEIGHT * WIDTH * 3
_SIZE = _HEADER.size + _PIXELS
_SEQUENCE = struct.Struct("<Q")


@dataclass(frozen=True)
class Opinion:
    """What the live reward model says of a screen's state, and what it paid on the way there.

    Attributes:
        potential: Of the state; None when the model answers with what is no number.
        paid: Its pay of the last seconds, `BINS` sums, oldest first; None when it does not pay as
            a potential.
    """

    version: int
    potential: float | None
    paid: tuple[float, ...] | None


@dataclass(frozen=True)
class Picture:
    """One screen.

    Attributes:
        sequence: Rises with each picture.
        env_step: Steps of all environments of the runner.
        env: Number of the environment in its runner.
        x, y: Pixels inside the room.
        rooms_visited: Distinct rooms of the episode.
        opinion: None while no reward model counts.
        pixels: `[144, 160, 3] uint8`, RGB.
    """

    sequence: int
    env_step: int
    env: int
    group: int
    room: int
    x: int
    y: int
    rooms_visited: int
    opinion: Opinion | None
    pixels: npt.NDArray[np.uint8]


class ScreenSlot:
    """The file; create it on the writing side, open it on the reading side."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Map the file; one that is not there or was cut off is an `OSError` or a `ValueError`."""
        if create:
            write_whole(path, bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self._sequence = 0

    def write(
        self,
        pixels: npt.NDArray[np.uint8],
        *,
        env_step: int,
        place: tuple[int, int, int, int],
        rooms_visited: int,
        opinion: Opinion | None = None,
        env: int = 0,
    ) -> None:
        """Replace the picture; `place` is (group, room, x, y)."""
        self._sequence += 2
        _SEQUENCE.pack_into(self._map, 0, self._sequence - 1)
        self._map[_HEADER.size : _SIZE] = pixels.tobytes()
        head = (self._sequence - 1, env_step, env, *place, rooms_visited)
        _HEADER.pack_into(self._map, 0, *head, *_packed(opinion))
        _SEQUENCE.pack_into(self._map, 0, self._sequence)

    def read(self, *, newer_than: int = 0) -> Picture | None:
        """The picture, or None when there is no newer whole one."""
        (before,) = _SEQUENCE.unpack_from(self._map, 0)
        if before <= newer_than or before % 2:
            return None
        header = _HEADER.unpack_from(self._map, 0)
        raw = self._map[_HEADER.size : _SIZE]
        (after,) = _SEQUENCE.unpack_from(self._map, 0)
        if after != before:
            return None
        pixels = np.frombuffer(raw, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3)
        sequence, env_step, env, group, room, x, y, rooms_visited, *packed = header
        place = (group, room, x, y)
        return Picture(sequence, env_step, env, *place, rooms_visited, _unpacked(packed), pixels)

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


def _packed(opinion: Opinion | None) -> tuple[float, ...]:
    """Version 0 is none; a number that is not known is NaN."""
    if opinion is None:
        return (0, *[math.nan] * (1 + BINS))
    potential = math.nan if opinion.potential is None else opinion.potential
    return (opinion.version, potential, *(opinion.paid or [math.nan] * BINS))


def _unpacked(packed: list[float]) -> Opinion | None:
    version, potential, *paid = packed
    if version == 0:
        return None
    return Opinion(
        version=int(version),
        potential=None if math.isnan(potential) else potential,
        paid=None if math.isnan(paid[0]) else tuple(paid),
    )
