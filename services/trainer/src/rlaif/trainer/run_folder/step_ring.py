"""What the newest steps of the watched game were paid, handed from its runner to the service.

A memory-mapped file with room for the newest `CAPACITY` decisions; the same seqlock as that of the
screen. Nobody waits for anybody, and a reader that comes too late misses the oldest.
"""

import math
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlaif.files.whole import write_whole

CAPACITY = 1024
"""Decisions; some ten seconds of a fast game. A look every half second misses none."""

_HEADER = struct.Struct("<QqQ")
_SEQUENCE = struct.Struct("<Q")
_NAMES_BYTES = 512
_TABLE = _HEADER.size + _NAMES_BYTES
"""Where the rows begin: behind the names of the parts."""


def steps_path(folder: Path, runner: int) -> Path:
    """The file of a runner, beside its picture."""
    return folder / f"{runner}.steps"


@dataclass(frozen=True)
class StepPay:
    """What one decision was paid.

    Attributes:
        number: Rises by one with each decision; a number is left out where others are not known.
        env_step: As with the picture.
        reward: What the game paid, by its ledger's own sum.
        parts: The parts of that sum, in the order of the ledger's.
        paid: What the reward model that was live paid for it, at its full weight; None when none
            was, or none that pays each step by itself.
        version: Of that model.
        ended: The episode ended with it.
    """

    number: int
    env_step: int
    reward: float
    parts: tuple[float, ...]
    paid: float | None = None
    version: int | None = None
    ended: bool = False


class StepRing:
    """The file: `create` it on the writing side, open it on the reading side.

    Attributes:
        parts: Names of the parts of the reward, in the order of `StepPay.parts`.
    """

    def __init__(self, path: Path) -> None:
        """Map a file that `create` made.

        Raises:
            OSError: It cannot be opened.
            ValueError: It is cut off, or is none.
        """
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        names = bytes(self._map[_HEADER.size : _TABLE])
        self.parts: tuple[str, ...] = tuple(names.rstrip(b"\0").decode("ascii").split())
        self._row = _row_of(len(self.parts))
        self._packed = struct.Struct(f"<qqddii{len(self.parts)}d")
        self._size = _TABLE + CAPACITY * self._row.itemsize
        self._sequence = self._written = 0
        if not self.parts or len(self._map) != self._size:
            self._map.close()
            raise ValueError(f"{path} is no table of {len(self.parts)} parts")

    @classmethod
    def create(cls, path: Path, parts: Sequence[str]) -> "StepRing":
        """Make an empty one for a ledger with these parts."""
        names = " ".join(parts).encode("ascii")
        if len(names) > _NAMES_BYTES:
            raise ValueError(f"the names of {len(parts)} parts take more than {_NAMES_BYTES} bytes")
        rows = CAPACITY * _row_of(len(parts)).itemsize
        write_whole(path, bytes(_HEADER.size) + names.ljust(_NAMES_BYTES, b"\0") + bytes(rows))
        return cls(path)

    def append(self, steps: Sequence[StepPay]) -> None:
        """Add decisions, oldest first."""
        if not steps:
            return
        self._sequence += 2
        _SEQUENCE.pack_into(self._map, 0, self._sequence - 1)
        for step in steps[-CAPACITY:]:
            at = _TABLE + (self._written % CAPACITY) * self._row.itemsize
            paid = math.nan if step.paid is None else step.paid
            head = (step.number, step.env_step, step.reward, paid, step.version or 0, step.ended)
            self._packed.pack_into(self._map, at, *head, *step.parts)
            self._written += 1
        newest = steps[-1].number
        _HEADER.pack_into(self._map, 0, self._sequence - 1, newest, self._written)
        _SEQUENCE.pack_into(self._map, 0, self._sequence)

    def read(self, *, after: int, most: int) -> list[StepPay] | None:
        """The newest decisions after a number, oldest first; None while it is being written."""
        before, newest, written = _HEADER.unpack_from(self._map, 0)
        if before % 2:
            return None
        if not written or newest == after:
            return []
        raw = self._map[_TABLE : self._size]
        (now,) = _SEQUENCE.unpack_from(self._map, 0)
        if now != before:
            return None
        rows = np.frombuffer(raw, dtype=self._row)
        kept = min(written, CAPACITY, most)
        picked = rows[[index % CAPACITY for index in range(written - kept, written)]]
        # A number below `after` is of another process, which counts anew.
        wanted = picked[picked["number"] > after] if newest > after else picked
        return [_unpacked(row) for row in wanted]

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


def _row_of(parts: int) -> np.dtype[Any]:
    return np.dtype(
        [
            ("number", "<i8"), ("env_step", "<i8"), ("reward", "<f8"), ("paid", "<f8"),
            ("version", "<i4"), ("ended", "<i4"), ("parts", "<f8", (parts,)),
        ]
    )  # fmt: skip


def _unpacked(row: Any) -> StepPay:
    paid = float(row["paid"])
    return StepPay(
        number=int(row["number"]),
        env_step=int(row["env_step"]),
        reward=float(row["reward"]),
        parts=tuple(row["parts"].tolist()),
        paid=None if math.isnan(paid) else paid,
        version=int(row["version"]) or None,
        ended=bool(row["ended"]),
    )
