"""What a simulated teacher is told of a segment: the truth, whole and at its end."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Truth:
    """The truth of the segment `key`: criterion → true value in [0, 1], where it applies.

    `late` is that of the segment's end; None where the end is not known by itself.
    """

    key: str
    values: Mapping[str, float]
    late: Mapping[str, float] | None = None
