"""Coverage of the game's map: visits of every square, per environment or per run.

`CoverageMap` counts for one environment. `RunCoverage` contains the maps of many by name. It can be
merged with others of the same run in any order and any number of times: of two maps of one
environment, the larger counts win (a grow-only counter).
"""

import io
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole
from rlaif.trainer.rewards.game import facts as places

VERSION = 1
"""Version of the file and of the JSON."""

_ARRAYS = ("version", "sources", "source", "square", "visits", "episodes")


class CoverageFileError(ValueError):
    """The file is damaged or of another version."""


class CoverageMap:
    """Counts of one environment.

    Attributes:
        visits: Square → number of visits.
        episodes: Square → finished episodes that visited it.
    """

    def __init__(self) -> None:
        self.visits: Counter[int] = Counter()
        self.episodes: Counter[int] = Counter()
        self._open: set[int] = set()

    def enter(self, square: int) -> None:
        """Count a visit, or the start of an episode on a square."""
        self.visits[square] += 1
        self._open.add(square)

    def end_episode(self) -> frozenset[int]:
        """Count the episode for each visited square; return these squares."""
        finished = frozenset(self._open)
        self.episodes.update(finished)
        self._open.clear()
        return finished

    @property
    def open(self) -> frozenset[int]:
        """Squares visited by the running episode."""
        return frozenset(self._open)

    def reopen(self, squares: Iterable[int]) -> None:
        """Resume an episode that visited `squares`."""
        self._open = set(squares)

    @property
    def rooms(self) -> int:
        """Number of distinct rooms."""
        return len({square // places.SQUARES_A_ROOM for square in self.visits})

    def grid(self, group: int, room: int) -> npt.NDArray[np.uint32]:
        """Return the visits of one room as `[16, 16] uint32`, starting at the top left."""
        first = places.square_index(group, room, 0, 0)
        counts = [self.visits[first + cell] for cell in range(places.SQUARES_A_ROOM)]
        return np.array(counts, dtype=np.uint32).reshape(places.LINES, places.COLUMNS)

    def as_json(self) -> dict[str, Any]:
        """Return rooms with their visited squares as [column, line, visits].

        Groups that share rooms are represented by one of them.
        """
        rooms: dict[tuple[int, int], list[list[int]]] = {}
        for square, visits in sorted(self.visits.items()):
            group, room, column, line = places.place_of(square)
            rooms.setdefault((group, room), []).append([column, line, visits])
        return {
            "version": VERSION,
            "rooms": [
                {
                    "group": group,
                    "room": room,
                    "visits": sum(visits for _, _, visits in squares),
                    "squares": squares,
                }
                for (group, room), squares in rooms.items()
            ],
        }

    def __eq__(self, other: object) -> bool:
        """Compare counts, regardless of the running episode."""
        if not isinstance(other, CoverageMap):
            return NotImplemented
        return self.visits == other.visits and self.episodes == other.episodes

    __hash__ = None  # type: ignore[assignment]  # mutable


class RunCoverage:
    """The maps of a run, by the names of its environments."""

    def __init__(self, maps: dict[str, CoverageMap] | None = None) -> None:
        self.maps = {} if maps is None else maps

    def of(self, environment: str) -> CoverageMap:
        """Return the map of an environment; creates it if necessary."""
        found = self.maps.get(environment)
        if found is None:
            found = self.maps[environment] = CoverageMap()
        return found

    def merge(self, other: "RunCoverage") -> "RunCoverage":
        """Return the union; commutative, associative and idempotent."""
        merged = RunCoverage()
        for account in (self, other):
            for name, found in account.maps.items():
                into = merged.of(name)
                into.visits |= found.visits
                into.episodes |= found.episodes
        return merged

    def union(self) -> CoverageMap:
        """Return the sum over all environments."""
        together = CoverageMap()
        for found in self.maps.values():
            together.visits.update(found.visits)
            together.episodes.update(found.episodes)
        return together

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunCoverage) and self.maps == other.maps

    __hash__ = None  # type: ignore[assignment]  # mutable

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the counts as columns, with one row per environment and square, sorted.

        `sources` `[S]` contains names; the others are `[K]`: `source uint16` (index into
        `sources`), `square int32`, `visits uint32`, `episodes uint32`.
        """
        names = sorted(self.maps)
        rows = [
            (index, square, visits, self.maps[name].episodes[square])
            for index, name in enumerate(names)
            for square, visits in sorted(self.maps[name].visits.items())
        ]
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        return {
            "version": np.array(VERSION),
            "sources": np.array(names, dtype=np.str_),
            "source": table[:, 0].astype(np.uint16),
            "square": table[:, 1].astype(np.int32),
            "visits": table[:, 2].astype(np.uint32),
            "episodes": table[:, 3].astype(np.uint32),
        }

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **self.arrays())
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> "RunCoverage":
        """Read a file of `save`; CoverageFileError if it is damaged or of another version."""
        data = path.read_bytes()
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                columns = {name: file[name] for name in _ARRAYS}
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise CoverageFileError(
                f"{path} is not a coverage map ({error}): delete it to restart the counts"
            ) from error
        if int(columns["version"]) != VERSION:
            raise CoverageFileError(
                f"{path} has version {columns['version']}, this trainer reads {VERSION}: delete it "
                "to restart the counts"
            )
        return cls(_maps(columns, path))


def _maps(columns: dict[str, npt.NDArray[Any]], path: Path) -> dict[str, CoverageMap]:
    names = columns["sources"].tolist()
    rows = [columns[name].tolist() for name in ("source", "square", "visits", "episodes")]
    try:
        maps: dict[str, CoverageMap] = {name: CoverageMap() for name in names}
        for source, square, visits, episodes in zip(*rows, strict=True):
            if not 0 <= square < places.SQUARES:
                raise ValueError(f"square {square}")
            found = maps[names[source]]
            found.visits[square] = visits
            if episodes:
                found.episodes[square] = episodes
    except (ValueError, IndexError, TypeError) as error:
        raise CoverageFileError(
            f"{path} is inconsistent ({error}): delete it to restart the counts"
        ) from error
    return maps


def load_directory(directory: Path, *, without: str | None = None) -> RunCoverage:
    """Merge all files of a run except `without`; unreadable ones count as empty."""
    together = RunCoverage()
    for path in sorted(directory.glob("*.npz")):
        if path.name == without:
            continue
        try:
            together = together.merge(RunCoverage.load(path))
        except (CoverageFileError, OSError):
            continue
    return together


def episodes_in(path: Path) -> Counter[int]:
    """Return square → finished episodes over all environments; empty if the file is unreadable."""
    try:
        return RunCoverage.load(path).union().episodes
    except (CoverageFileError, OSError):
        return Counter()
