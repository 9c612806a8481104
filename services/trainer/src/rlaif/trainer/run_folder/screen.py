"""The live picture of one environment, handed from an environment runner to the service.

A memory-mapped file with one slot. The writer bumps the sequence to an odd number, writes, and
bumps it to an even one (a seqlock); a reader that saw an odd or a changed sequence tries again
later. Nobody waits for anybody.
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole

HEIGHT, WIDTH = 144, 160
_HEADER = struct.Struct("<QQiiiii")
_PIXELS = HEIGHT * WIDTH * 3
_SIZE = _HEADER.size + _PIXELS
_SEQUENCE = struct.Struct("<Q")


@dataclass(frozen=True)
class Picture:
    """One screen.

    Attributes:
        sequence: Rises with each picture.
        env_step: Steps of this environment.
        x, y: Pixels inside the room.
        rooms_visited: Distinct rooms of the episode.
        pixels: `[144, 160, 3] uint8`, RGB.
    """

    sequence: int
    env_step: int
    group: int
    room: int
    x: int
    y: int
    rooms_visited: int
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
    ) -> None:
        """Replace the picture; `place` is (group, room, x, y)."""
        self._sequence += 2
        _SEQUENCE.pack_into(self._map, 0, self._sequence - 1)
        self._map[_HEADER.size : _SIZE] = pixels.tobytes()
        _HEADER.pack_into(self._map, 0, self._sequence - 1, env_step, *place, rooms_visited)
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
        sequence, env_step, group, room, x, y, rooms_visited = header
        return Picture(sequence, env_step, group, room, x, y, rooms_visited, pixels)

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()
