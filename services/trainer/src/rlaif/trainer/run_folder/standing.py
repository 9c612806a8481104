"""Where the players of one runner stand, handed from it to the service, and its sign of life.

    runs/{run_id}/screens/{runner}.where    written by the runner: `Standings`
    runs/{run_id}/screens/watched           written by the service: `WatchedFile`

Memory-mapped files. The writer bumps a number to an odd one, writes, and bumps it to an even one (a
seqlock); who reads an odd or a changed number looks again later. Nobody waits for anybody.
"""

import mmap
import re
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from rlaif.files.whole import write_whole

SCREENS = "screens"
"""The folder of these files and of the pictures, in the run's."""

_HEADER = struct.Struct("<QQQI")
"""Number of the write, nanoseconds of the last sign of life and of the last write, players."""

_BEAT = struct.Struct("<Q")
_BEAT_AT = 8
_PLAYER = struct.Struct("<iiiiiqd")
_WATCHED = struct.Struct("<ii")
_NAME = re.compile(r"^(?P<runner>[0-9]{1,6})-(?P<n>[0-9]{1,6})$")
_NOBODY = (-1, -1)
MOST_PLAYERS = 4096


class PlayerStands(NamedTuple):
    """Where one player stands.

    Attributes:
        x, y: Pixels inside the room.
        rooms_visited: Distinct rooms of the episode.
        steps: Steps of four frames of the episode.
        episode_return: The game's own reward of the episode.
    """

    group: int
    room: int
    x: int
    y: int
    rooms_visited: int
    steps: int
    episode_return: float


@dataclass(frozen=True)
class RunnerStands:
    """All players of a runner, as they were told last.

    Attributes:
        alive_at: Seconds since 1970 of its last sign of life; None before the first one.
        told_at: Likewise of the last time that it played.
    """

    alive_at: float | None
    told_at: float | None
    players: tuple[PlayerStands, ...]


class Standings:
    """The file of one runner: `create` it on the writing side, `open` it on the reading side."""

    def __init__(self, path: Path) -> None:
        """Map a file that is there; one that is cut off is a `ValueError`."""
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        is_whole = len(self._map) >= _HEADER.size
        count = _HEADER.unpack_from(self._map, 0)[-1] if is_whole else 0
        if not is_whole or count > MOST_PLAYERS or len(self._map) < _size(count):
            self._map.close()
            raise ValueError(f"{path} is no file of {count} players")
        self._number, self._count = 0, count

    @classmethod
    def create(cls, path: Path, count: int) -> Self:
        """Make the file of `count` players, of whom nothing is known yet."""
        empty = bytearray(_size(count))
        _HEADER.pack_into(empty, 0, 0, 0, 0, count)
        write_whole(path, bytes(empty))
        return cls(path)

    def beat(self) -> None:
        """The process lives; a write of eight aligned bytes, from any thread."""
        _BEAT.pack_into(self._map, _BEAT_AT, time.time_ns())

    def write(self, players: Sequence[PlayerStands]) -> None:
        """Replace what was told of all players."""
        self._number += 2
        _BEAT.pack_into(self._map, 0, self._number - 1)
        for n, player in enumerate(players):
            _PLAYER.pack_into(self._map, _size(n), *player)
        _BEAT.pack_into(self._map, 16, time.time_ns())
        _BEAT.pack_into(self._map, 0, self._number)

    def read(self) -> RunnerStands | None:
        """What was told last; None while it is being written."""
        before, alive, told, _ = _HEADER.unpack_from(self._map, 0)
        if before % 2:
            return None
        players = tuple(
            PlayerStands(*_PLAYER.unpack_from(self._map, _size(n))) for n in range(self._count)
        )
        (after,) = _BEAT.unpack_from(self._map, 0)
        if after != before:
            return None
        return RunnerStands(
            alive_at=alive / 1e9 or None,
            told_at=told / 1e9 or None,
            players=players if told else (),
        )

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


class WatchedFile:
    """Which environment people want to see: (runner, number in it); written in place."""

    def __init__(self, path: Path) -> None:
        """Map the file; the first who asks makes it."""
        with suppress(FileExistsError), path.open("xb") as made:
            made.write(_WATCHED.pack(*_NOBODY))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _WATCHED.size)

    @property
    def env(self) -> tuple[int, int] | None:
        """The environment; None: nobody has asked for any."""
        runner, n = _WATCHED.unpack_from(self._map, 0)
        return None if runner < 0 else (runner, n)

    @env.setter
    def env(self, env: tuple[int, int] | None) -> None:
        _WATCHED.pack_into(self._map, 0, *(env or _NOBODY))

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


def shifted(data: bytes, nanoseconds: int) -> bytes:
    """The content of a file of `Standings` by a clock that is so much ahead."""
    number, *times, count = _HEADER.unpack_from(data, 0)
    by_clock = [at and max(1, at + nanoseconds) for at in times]
    return _HEADER.pack(number, *by_clock, count) + data[_HEADER.size :]


def env_name(runner: int, n: int) -> str:
    """How an environment is called: such as 1-0."""
    return f"{runner}-{n}"


def named_env(name: str) -> tuple[int, int] | None:
    """(runner, number in it) of a name that `env_name` gives; None for any other."""
    match = _NAME.match(name)
    return None if match is None else (int(match["runner"]), int(match["n"]))


def _size(count: int) -> int:
    return _HEADER.size + 4 + count * _PLAYER.size
