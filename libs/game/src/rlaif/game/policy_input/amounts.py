"""Bits and amounts as the numbers of an input."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float32]
"""`[n] float32`; a whole input or a part of it."""


def bits_of(data: bytes) -> list[int]:
    """The bits of some bytes, the lowest of the first byte first."""
    return [byte >> bit & 1 for byte in data for bit in range(8)]


def reached(amount: int, thresholds: Sequence[int]) -> list[bool]:
    """Which of the thresholds an amount has reached."""
    return [amount >= threshold for threshold in thresholds]


def amount(number: int) -> float:
    """A number up to some thousands as one in [0, 1], finest where it is small."""
    return min(math.log2(1 + number) / 10, 1.0)


def read_only(values: Iterable[float]) -> Row:
    """The numbers as a row that may be kept and shared."""
    row = np.array(list(values), dtype=np.float32)
    row.flags.writeable = False
    return row
