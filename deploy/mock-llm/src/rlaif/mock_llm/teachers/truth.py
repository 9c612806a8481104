"""What a simulated teacher is told of a segment: the truth, whole and at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LATE_SHARE = 1 / 3
"""Part of a segment that counts as its end."""


@dataclass(frozen=True)
class Truth:
    """The truth of the segment `key`: criterion → true value in [0, 1], where it applies.

    `late` is that of the segment's end; None where the end is not known by itself.
    """

    key: str
    values: Mapping[str, float]
    late: Mapping[str, float] | None = None


def truth_of(key: str, criteria: Sequence[str], steps: Sequence[Sequence[float]]) -> Truth:
    """The truth of a segment from that of its steps, at least one: the means.

    `steps` has a row for each decision step, with one value in [0, 1] for each criterion.
    """
    end = steps[-max(1, round(len(steps) * LATE_SHARE)) :]
    return Truth(key, _means(criteria, steps), _means(criteria, end))


def _means(criteria: Sequence[str], steps: Sequence[Sequence[float]]) -> dict[str, float]:
    return {
        name: sum(row[column] for row in steps) / len(steps) for column, name in enumerate(criteria)
    }
