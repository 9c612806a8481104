"""Live files of a runner: memory-mapped, written in place while the service reads them.

    runs/{run_id}/screens/{runner}.rgb      screen of one environment: `ScreenFile`
    runs/{run_id}/screens/{runner}.where    positions of all players, heartbeat: `PlayersFile`
    runs/{run_id}/screens/{runner}.steps    rewards of the watched environment: `StepsFile`
    runs/{run_id}/screens/watched           written by the service: `WatchedFile`

The first three begin with the number of a seqlock: the writer makes it odd, writes, and makes it
even; a reader that finds an odd or a changed number discards what it read. Neither side waits.
"""

import math
import mmap
import re
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole

SCREENS = "screens"
"""Folder of these files in the run's."""

T = TypeVar("T")

_NUMBER = struct.Struct("<Q")


class Seqlock:
    """A mapped file that begins with the number of the last write, which is odd during a write."""

    def __init__(self, path: Path) -> None:
        """Map the file; a missing one is an `OSError`, a truncated one may be a `ValueError`."""
        with path.open("r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self._number = 0

    def check(self, is_valid: bool, path: Path) -> None:
        if not is_valid:
            self.map.close()
            raise ValueError(f"{path} is truncated, or not a live file")

    @contextmanager
    def writing(self) -> Iterator[None]:
        self._number += 2
        _NUMBER.pack_into(self.map, 0, self._number - 1)
        yield
        _NUMBER.pack_into(self.map, 0, self._number)

    @property
    def number(self) -> int:
        return int(_NUMBER.unpack_from(self.map, 0)[0])

    def read_consistently(self, read: Callable[[], T]) -> T | None:
        """What `read` returns; None while or when a write interferes."""
        before = self.number
        if before % 2:
            return None
        found = read()
        return found if self.number == before else None

    def close(self) -> None:
        self.map.close()


HEIGHT, WIDTH = 144, 160
BINS, BIN_SECONDS = 20, 0.5
"""Number and length of the time bins into which the model's recent reward is summed."""

_SCREEN = struct.Struct(f"<Qiiiiiiid{BINS}d")
_PIXELS_AT = _NUMBER.size + _SCREEN.size
_SCREEN_SIZE = _PIXELS_AT + HEIGHT * WIDTH * 3


@dataclass(frozen=True)
class Opinion:
    """Output of the live reward model for a screen's state.

    Attributes:
        potential: Potential of the state; None when it is not finite.
        paid: Shaping reward of the last seconds, `BINS` sums, oldest first; None when the model
            does not shape by potentials.
    """

    version: int
    potential: float | None
    paid: tuple[float, ...] | None


@dataclass(frozen=True)
class Picture:
    """One screen.

    Attributes:
        sequence: Increases with each picture.
        env_step: Steps of all environments of the runner.
        env: Number of the environment in its runner.
        x, y: Pixels inside the room.
        rooms_visited: Distinct rooms of the episode.
        opinion: None while no reward model is live.
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


class ScreenFile(Seqlock):
    """The screen of one environment; `create` on the writing side, open on the reading side."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.check(len(self.map) >= _SCREEN_SIZE, path)

    @classmethod
    def create(cls, path: Path) -> Self:
        write_whole(path, bytes(_SCREEN_SIZE))
        return cls(path)

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
        head = (env_step, env, *place, rooms_visited, *_packed_opinion(opinion))
        with self.writing():
            self.map[_PIXELS_AT:_SCREEN_SIZE] = pixels.tobytes()
            _SCREEN.pack_into(self.map, _NUMBER.size, *head)

    def read(self, *, newer_than: int = 0) -> Picture | None:
        """The picture; None when there is no newer one."""
        number = self.number
        if number <= newer_than:
            return None
        found = self.read_consistently(
            lambda: (
                _SCREEN.unpack_from(self.map, _NUMBER.size),
                self.map[_PIXELS_AT:_SCREEN_SIZE],
            )
        )
        if found is None:
            return None
        (env_step, env, group, room, x, y, rooms_visited, *opinion), raw = found
        pixels = np.frombuffer(raw, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3)
        place = (group, room, x, y)
        return Picture(
            number, env_step, env, *place, rooms_visited, _unpacked_opinion(opinion), pixels
        )


def _packed_opinion(opinion: Opinion | None) -> tuple[float, ...]:
    """Version 0 is none; an unknown number is NaN."""
    if opinion is None:
        return (0, *[math.nan] * (1 + BINS))
    potential = math.nan if opinion.potential is None else opinion.potential
    return (opinion.version, potential, *(opinion.paid or [math.nan] * BINS))


def _unpacked_opinion(packed: list[float]) -> Opinion | None:
    version, potential, *paid = packed
    if version == 0:
        return None
    return Opinion(
        version=int(version),
        potential=None if math.isnan(potential) else potential,
        paid=None if math.isnan(paid[0]) else tuple(paid),
    )


_PLAYERS = struct.Struct("<QQI")
"""Nanoseconds of the last heartbeat and of the last write, number of players."""

_PLAYER = struct.Struct("<iiiiiqd")
MAX_PLAYERS = 4096


class PlayerPosition(NamedTuple):
    """Where one player is.

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
class RunnerPlayers:
    """All players of a runner, as last reported.

    Attributes:
        alive_at: Seconds since 1970 of its last heartbeat; None before the first one.
        played_at: Seconds since 1970 of its last step; None before the first one.
    """

    alive_at: float | None
    played_at: float | None
    players: tuple[PlayerPosition, ...]


class PlayersFile(Seqlock):
    """Positions of a runner's players; `create` on the writing side, open on the reading side."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.check(len(self.map) >= _player_at(0), path)
        self._count = int(_PLAYERS.unpack_from(self.map, _NUMBER.size)[-1])
        fits = self._count <= MAX_PLAYERS and len(self.map) >= _player_at(self._count)
        self.check(fits, path)

    @classmethod
    def create(cls, path: Path, count: int) -> Self:
        """Create the file for `count` players, of which none has a position yet."""
        empty = bytearray(_player_at(count))
        _PLAYERS.pack_into(empty, _NUMBER.size, 0, 0, count)
        write_whole(path, bytes(empty))
        return cls(path)

    def beat(self) -> None:
        """Record a heartbeat: a write of eight aligned bytes, from any thread."""
        _NUMBER.pack_into(self.map, 8, time.time_ns())

    def write(self, players: Sequence[PlayerPosition]) -> None:
        with self.writing():
            for n, player in enumerate(players):
                _PLAYER.pack_into(self.map, _player_at(n), *player)
            _NUMBER.pack_into(self.map, 16, time.time_ns())

    def read(self) -> RunnerPlayers | None:
        """The last report; None during a write."""
        return self.read_consistently(self._read)

    def _read(self) -> RunnerPlayers:
        alive, played, _ = _PLAYERS.unpack_from(self.map, _NUMBER.size)
        players = (_PLAYER.unpack_from(self.map, _player_at(n)) for n in range(self._count))
        return RunnerPlayers(
            alive_at=alive / 1e9 or None,
            played_at=played / 1e9 or None,
            players=tuple(PlayerPosition(*each) for each in players) if played else (),
        )


def with_clock_offset(data: bytes, nanoseconds: int) -> bytes:
    """The content of a `PlayersFile` by a clock that is `nanoseconds` ahead."""
    *times, count = _PLAYERS.unpack_from(data, _NUMBER.size)
    by_clock = [at and max(1, at + nanoseconds) for at in times]
    end = _NUMBER.size + _PLAYERS.size
    return data[: _NUMBER.size] + _PLAYERS.pack(*by_clock, count) + data[end:]


def _player_at(n: int) -> int:
    return _NUMBER.size + _PLAYERS.size + 4 + n * _PLAYER.size


_WATCHED = struct.Struct("<ii")
_NAME = re.compile(r"^(?P<runner>[0-9]{1,6})-(?P<n>[0-9]{1,6})$")
_NONE = (-1, -1)


class WatchedFile:
    """Which environment is watched: (runner, number in it); written in place."""

    def __init__(self, path: Path) -> None:
        """Map the file, which is created if necessary."""
        with suppress(FileExistsError), path.open("xb") as made:
            made.write(_WATCHED.pack(*_NONE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _WATCHED.size)

    @property
    def env(self) -> tuple[int, int] | None:
        """The environment; None while none was requested."""
        runner, n = _WATCHED.unpack_from(self._map, 0)
        return None if runner < 0 else (runner, n)

    @env.setter
    def env(self, env: tuple[int, int] | None) -> None:
        _WATCHED.pack_into(self._map, 0, *(env or _NONE))

    def close(self) -> None:
        self._map.close()


def env_name(runner: int, n: int) -> str:
    """Name of an environment, such as 1-0."""
    return f"{runner}-{n}"


def named_env(name: str) -> tuple[int, int] | None:
    """(runner, number in it) of a name that `env_name` gives; None for any other."""
    match = _NAME.match(name)
    return None if match is None else (int(match["runner"]), int(match["n"]))


CAPACITY = 1024
"""Decisions in a `StepsFile`: some ten seconds of a fast game, and it is polled twice a second."""

_RING = struct.Struct("<qQ")
"""Number of the newest decision, decisions written."""

_NAMES_AT = _NUMBER.size + _RING.size
_NAMES_BYTES = 512
_ROWS_AT = _NAMES_AT + _NAMES_BYTES


def steps_path(folder: Path, runner: int) -> Path:
    """The `StepsFile` of a runner."""
    return folder / f"{runner}.steps"


@dataclass(frozen=True)
class StepReward:
    """Reward of one decision.

    Attributes:
        number: Increases by one with each decision; numbers are skipped where rewards are unknown.
        env_step: As in `Picture`.
        reward: The game's reward, as its ledger sums it.
        parts: The terms of that sum, in the order of the ledger.
        paid: Shaping reward of the live model at full weight; None without a model, or without one
            that rewards single steps.
        version: Version of that model.
        ended: The episode ended with it.
    """

    number: int
    env_step: int
    reward: float
    parts: tuple[float, ...]
    paid: float | None = None
    version: int | None = None
    ended: bool = False


class StepsFile(Seqlock):
    """Ring of the newest decisions; `create` on the writing side, open on the reading side.

    Attributes:
        parts: Names of the terms of the reward, in the order of `StepReward.parts`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        names = bytes(self.map[_NAMES_AT:_ROWS_AT])
        self.parts: tuple[str, ...] = tuple(names.rstrip(b"\0").decode("ascii").split())
        self._row = _row_of(len(self.parts))
        self._packed = struct.Struct(f"<qqddii{len(self.parts)}d")
        self._size = _ROWS_AT + CAPACITY * self._row.itemsize
        self._written = 0
        self.check(bool(self.parts) and len(self.map) == self._size, path)

    @classmethod
    def create(cls, path: Path, parts: Sequence[str]) -> Self:
        """Create an empty one for a ledger with these terms."""
        names = " ".join(parts).encode("ascii")
        if len(names) > _NAMES_BYTES:
            raise ValueError(f"the names of {len(parts)} terms take more than {_NAMES_BYTES} bytes")
        rows = CAPACITY * _row_of(len(parts)).itemsize
        write_whole(path, bytes(_NAMES_AT) + names.ljust(_NAMES_BYTES, b"\0") + bytes(rows))
        return cls(path)

    def append(self, steps: Sequence[StepReward]) -> None:
        """Add decisions, oldest first."""
        if not steps:
            return
        with self.writing():
            for step in steps[-CAPACITY:]:
                at = _ROWS_AT + (self._written % CAPACITY) * self._row.itemsize
                paid = math.nan if step.paid is None else step.paid
                head = (step.number, step.env_step, step.reward, paid)
                more = (step.version or 0, step.ended, *step.parts)
                self._packed.pack_into(self.map, at, *head, *more)
                self._written += 1
            _RING.pack_into(self.map, _NUMBER.size, steps[-1].number, self._written)

    def read(self, *, after: int, limit: int) -> list[StepReward] | None:
        """The newest decisions after a number, oldest first; None during a write."""
        newest, written = _RING.unpack_from(self.map, _NUMBER.size)
        if self.number % 2 == 0 and (not written or newest == after):
            return []
        found = self.read_consistently(
            lambda: (
                *_RING.unpack_from(self.map, _NUMBER.size),
                self.map[_ROWS_AT : self._size],
            )
        )
        if found is None:
            return None
        newest, written, raw = found
        kept = min(written, CAPACITY, limit)
        rows = np.frombuffer(raw, dtype=self._row)
        picked = rows[[index % CAPACITY for index in range(written - kept, written)]]
        # A number below `after` is another process's, which counts from the start.
        new = picked[picked["number"] > after] if newest > after else picked
        return [_step_of(row) for row in new]


def _row_of(parts: int) -> np.dtype[Any]:
    return np.dtype(
        [
            ("number", "<i8"), ("env_step", "<i8"), ("reward", "<f8"), ("paid", "<f8"),
            ("version", "<i4"), ("ended", "<i4"), ("parts", "<f8", (parts,)),
        ]
    )  # fmt: skip


def _step_of(row: Any) -> StepReward:
    paid = float(row["paid"])
    return StepReward(
        number=int(row["number"]),
        env_step=int(row["env_step"]),
        reward=float(row["reward"]),
        parts=tuple(row["parts"].tolist()),
        paid=None if math.isnan(paid) else paid,
        version=int(row["version"]) or None,
        ended=bool(row["ended"]),
    )
