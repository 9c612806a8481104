"""Live files of a runner: memory-mapped, written in place while the service reads them.

    runs/{run_id}/screens/{runner}.rgb      screen of one environment: `ScreenFile`
    runs/{run_id}/screens/{runner}.where    positions of all players, heartbeat: `PlayersFile`
    runs/{run_id}/screens/{runner}.steps    rewards of the watched environment: `StepsFile`
    runs/{run_id}/screens/watched           written by the service: `WatchedFile`

The first three begin with the counter of a seqlock: the writer makes it odd, writes, and makes it
even; a reader that finds an odd or a changed value discards the data. Neither side waits.
They can be copied if the runner is on another machine (`ScreenSource`, `ScreenMirror`).
"""

import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole

SCREENS = "screens"
"""Subfolder of the run's folder that contains these files."""

_POSITION = np.dtype(
    [
        ("group", "<i4"), ("room", "<i4"), ("x", "<i4"), ("y", "<i4"), ("rooms_visited", "<i4"),
        ("steps", "<i8"), ("episode_return", "<f8"),
    ]
)  # fmt: skip
_WATCHED = np.dtype("<i4")
_NAME = re.compile(r"^(?P<runner>[0-9]{1,6})-(?P<n>[0-9]{1,6})$")
_NONE = (-1, -1)
CAPACITY = 1024
"""Decisions in a `StepsFile`: about 10 s of a fast game, and it is polled twice per second."""

_NAMES_BYTES = 512
_HEAD = [("number", "<u8"), ("newest", "<i8"), ("written", "<u8"), ("names", f"S{_NAMES_BYTES}")]
_PERIODS = {".rgb": 0.0, ".where": 0.5, ".steps": 0.5}
"""Suffix → minimum seconds between two copies: the readers poll at this rate."""

_NUMBER = slice(8)


class Seqlock:
    """A mapped file with one record, whose first field is the number of the last write."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        """Map the file.

        Raises:
            OSError: The file does not exist.
            ValueError: Its size is not the record's.
        """
        mapped = np.memmap(path, dtype=dtype, mode="r+")
        if len(mapped) != 1:
            raise ValueError(f"{path} is truncated, or not a live file")
        self.data: npt.NDArray[Any] = mapped

    @contextmanager
    def writing(self) -> Iterator[None]:
        number = self.number
        self.data["number"] = number + 1
        yield
        self.data["number"] = number + 2

    @property
    def number(self) -> int:
        return int(self.data["number"][0])

    def read_record(self) -> Any | None:
        """Return a copy of the record; None if a write interferes."""
        before = self.number
        if before % 2:
            return None
        record = self.data[0].copy()
        return record if self.number == before else None

    def close(self) -> None:
        """Unmap the file; later writes have no effect."""
        self.data = np.array(self.data)


HEIGHT, WIDTH = 144, 160
BINS, BIN_SECONDS = 20, 0.5
"""Number and length of the time bins into which the potential's recent rises are summed."""

_SCREEN = np.dtype(
    [
        ("number", "<u8"), ("env_step", "<i8"), ("env", "<i4"), ("place", "<i4", 4),
        ("rooms_visited", "<i4"), ("version", "<i8"), ("potential", "<f8"), ("rises", "<f8", BINS),
        ("pixels", "u1", (HEIGHT, WIDTH, 3)),
    ]
)  # fmt: skip
"""Version 0 means no model; unknown floats are NaN."""


@dataclass(frozen=True)
class Opinion:
    """Output of the live reward model for a screen's state.

    Attributes:
        potential: Potential of the state; None when it is not finite.
        rises: Change of the potential in the last seconds, `BINS` sums, oldest first; None when it
            is unknown.
    """

    version: int
    potential: float | None
    rises: tuple[float, ...] | None


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
        super().__init__(path, _SCREEN)

    @classmethod
    def create(cls, path: Path) -> Self:
        write_whole(path, bytes(_SCREEN.itemsize))
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
        with self.writing():
            record = self.data[0]
            record["env_step"], record["env"], record["place"] = env_step, env, place
            record["rooms_visited"], record["pixels"] = rooms_visited, pixels
            record["version"] = 0 if opinion is None else opinion.version
            record["potential"] = _or_nan(None if opinion is None else opinion.potential)
            known = None if opinion is None else opinion.rises
            record["rises"] = math.nan if known is None else known

    def read(self, *, newer_than: int = 0) -> Picture | None:
        record = self.read_record() if self.number > newer_than else None
        if record is None:
            return None
        opinion = None
        if record["version"]:
            rises = tuple(record["rises"].tolist())
            opinion = Opinion(
                version=int(record["version"]),
                potential=_or_none(record["potential"]),
                rises=None if math.isnan(rises[0]) else rises,
            )
        group, room, x, y = record["place"].tolist()
        return Picture(
            sequence=int(record["number"]),
            env_step=int(record["env_step"]),
            env=int(record["env"]),
            group=group,
            room=room,
            x=x,
            y=y,
            rooms_visited=int(record["rooms_visited"]),
            opinion=opinion,
            pixels=record["pixels"],
        )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


class PlayerPosition(NamedTuple):
    """Position of one player.

    Attributes:
        x, y: Pixels inside the room.
        rooms_visited: Distinct rooms of the episode.
        steps: Steps of the episode, of four frames each.
        episode_return: The game's own reward of the episode.
    """

    group: int
    room: int
    x: int
    y: int
    rooms_visited: int
    steps: int
    episode_return: float


def _players(count: int) -> np.dtype[Any]:
    """The record of a `PlayersFile`; times are nanoseconds since 1970, 0 for none."""
    times = [("number", "<u8"), ("alive", "<u8"), ("played", "<u8")]
    return np.dtype([*times, ("players", _POSITION, (count,))])


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
        positions = path.stat().st_size - _players(0).itemsize
        super().__init__(path, _players(max(1, positions // _POSITION.itemsize)))

    @classmethod
    def create(cls, path: Path, count: int) -> Self:
        write_whole(path, bytes(_players(count).itemsize))
        return cls(path)

    def beat(self) -> None:
        """Record a heartbeat: a write of eight aligned bytes, from any thread."""
        self.data["alive"] = time.time_ns()

    def write(self, players: Sequence[PlayerPosition]) -> None:
        with self.writing():
            self.data["players"][0, : len(players)] = players
            self.data["played"] = time.time_ns()

    def read(self) -> RunnerPlayers | None:
        record = self.read_record()
        if record is None:
            return None
        alive, played = int(record["alive"]), int(record["played"])
        return RunnerPlayers(
            alive_at=alive / 1e9 or None,
            played_at=played / 1e9 or None,
            players=tuple(map(PlayerPosition._make, record["players"].tolist())) if played else (),
        )


def with_clock_offset(data: bytes, nanoseconds: int) -> bytes:
    """Return the content of a `PlayersFile` with its times shifted by `nanoseconds`."""
    changed = bytearray(data)
    times = np.frombuffer(changed, dtype="<i8", offset=8, count=2)
    times[:] = np.where(times, np.maximum(1, times + nanoseconds), 0)
    return bytes(changed)


class WatchedFile:
    """The watched environment: (runner, number in it); written in place."""

    def __init__(self, path: Path) -> None:
        """Map the file; create it if necessary."""
        with suppress(FileExistsError), path.open("xb") as made:
            made.write(np.array(_NONE, _WATCHED).tobytes())
        self._data = np.memmap(path, dtype=_WATCHED, mode="r+", shape=(2,))

    @property
    def env(self) -> tuple[int, int] | None:
        runner, n = self._data.tolist()
        return None if runner < 0 else (runner, n)

    @env.setter
    def env(self, env: tuple[int, int] | None) -> None:
        self._data[:] = env or _NONE

    def close(self) -> None: ...


def env_name(runner: int, n: int) -> str:
    """Name of an environment, such as 1-0."""
    return f"{runner}-{n}"


def named_env(name: str) -> tuple[int, int] | None:
    """(runner, number in it) of a name that `env_name` gives; None for any other."""
    match = _NAME.match(name)
    return None if match is None else (int(match["runner"]), int(match["n"]))


def _steps(parts: int) -> np.dtype[Any]:
    row = [
        ("number", "<i8"), ("env_step", "<i8"), ("reward", "<f8"), ("parts", "<f8", (parts,)),
        ("paid", "<f8"), ("version", "<i4"), ("ended", "<i4"),
    ]  # fmt: skip
    return np.dtype([*_HEAD, ("rows", row, (CAPACITY,))])


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
        reward_model_version: Version of that model.
        ended: The episode ended with it.
    """

    number: int
    env_step: int
    reward: float
    parts: tuple[float, ...]
    paid: float | None = None
    reward_model_version: int | None = None
    ended: bool = False


class StepsFile(Seqlock):
    """Ring of the newest decisions; `create` on the writing side, open on the reading side.

    Attributes:
        parts: Names of the terms of the reward, in the order of `StepReward.parts`.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            names = file.read(np.dtype(_HEAD).itemsize)[-_NAMES_BYTES:]
        self.parts = tuple(names.rstrip(b"\0").decode("ascii").split())
        super().__init__(path, _steps(len(self.parts)))

    @classmethod
    def create(cls, path: Path, parts: Sequence[str]) -> Self:
        names = " ".join(parts).encode("ascii")
        if len(names) > _NAMES_BYTES:
            raise ValueError(f"the names of {len(parts)} terms take more than {_NAMES_BYTES} bytes")
        empty = np.zeros(1, _steps(len(parts)))
        empty["names"] = names
        write_whole(path, empty.tobytes())
        return cls(path)

    def append(self, steps: Sequence[StepReward]) -> None:
        if not steps:
            return
        with self.writing():
            record, written = self.data[0], int(self.data["written"][0])
            for index, step in enumerate(steps[-CAPACITY:], start=written):
                record["rows"][index % CAPACITY] = (
                    step.number, step.env_step, step.reward, step.parts, _or_nan(step.paid),
                    step.reward_model_version or 0, step.ended,
                )  # fmt: skip
            record["newest"] = steps[-1].number
            record["written"] = written + min(len(steps), CAPACITY)

    def read(self, *, after: int, limit: int) -> list[StepReward] | None:
        newest, written = int(self.data["newest"][0]), int(self.data["written"][0])
        if self.number % 2 == 0 and (not written or newest == after):
            return []
        record = self.read_record()
        if record is None:
            return None
        newest, written = int(record["newest"]), int(record["written"])
        kept = min(written, CAPACITY, limit)
        rows = record["rows"][[index % CAPACITY for index in range(written - kept, written)]]
        # A number below `after` is from another process, whose count started again.
        new = rows[rows["number"] > after] if newest > after else rows
        return [_step_of(*row) for row in new.tolist()]


def _step_of(
    number: int, env_step: int, reward: float, parts: Any, paid: float, version: int, ended: int
) -> StepReward:
    return StepReward(
        number, env_step, reward, tuple(parts), _or_none(paid), version or None, bool(ended)
    )


@dataclass(frozen=True)
class ScreenUpdate:
    """The files that changed.

    Attributes:
        source: Identifies the sender; files of another sender are created again.
        sent_ns: Nanoseconds since 1970 by the clock of the runner's machine.
        files: Suffix → content.
    """

    runner: int
    source: str
    sent_ns: int
    files: dict[str, bytes]


class ScreenSource:
    """Reads the files of one runner on its own machine."""

    def __init__(self, folder: Path, runner: int) -> None:
        self._folder, self._runner = folder, runner
        self._source = uuid4().hex
        self._sent: dict[str, tuple[float, bytes]] = {}

    def update(self) -> ScreenUpdate | None:
        """Return the files that changed since the last call; None if none did."""
        now, files = time.monotonic(), {}
        for suffix, period in _PERIODS.items():
            at, before = self._sent.get(suffix, (float("-inf"), b""))
            if now - at < period:
                continue
            data = _read(self._folder / f"{self._runner}{suffix}")
            if data is not None and data != before:
                files[suffix] = data
                self._sent[suffix] = now, data
        return ScreenUpdate(self._runner, self._source, time.time_ns(), files) if files else None

    def watch(self, env: tuple[int, int] | None) -> None:
        """Pass the watched environment to the runner; None for none."""
        with suppress(OSError), closing(WatchedFile(self._folder / "watched")) as watched:
            watched.env = env


class ScreenMirror:
    """Writes the files of runners on other machines where the service reads them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[Path, str] = {}

    def write(self, update: ScreenUpdate) -> tuple[int, int] | None:
        """Write changed files; returns the watched environment, if any.

        Raises:
            OSError: The files cannot be written.
        """
        self._folder.mkdir(exist_ok=True)
        for suffix, data in update.files.items():
            path = self._folder / f"{update.runner}{suffix}"
            if suffix == ".where":
                data = with_clock_offset(data, time.time_ns() - update.sent_ns)
            if self._sources.get(path) == update.source:
                _overwrite(path, data)
            else:
                write_whole(path, data)
                self._sources[path] = update.source
        with closing(WatchedFile(self._folder / "watched")) as watched:
            return watched.env


def _read(path: Path) -> bytes | None:
    """The content of a file; None while it is missing or being written."""
    with suppress(OSError), path.open("rb", buffering=0) as file:
        data = file.read()
        file.seek(0)
        if data and data[0] % 2 == 0 and file.read(8) == data[_NUMBER]:
            return data
    return None


def _overwrite(path: Path, data: bytes) -> None:
    """Write in place like the runner, as readers keep the file mapped."""
    number = int.from_bytes(data[_NUMBER], "little")
    with path.open("r+b", buffering=0) as file:
        file.write((number + 1).to_bytes(8, "little") + data[8:])
        file.seek(0)
        file.write(data[_NUMBER])
