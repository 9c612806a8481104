"""Filters, orders and cursors of the segment list.

rows of the table ──▶ `with_gaps` ──▶ `SegmentFilter.keeps` ──▶ `ordered`, after a `Place`
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field

from rlaif.contracts.model import ID_PATTERN
from rlaif.hud.read_model.segments.detail import Facet, SegmentFacets
from rlaif.hud.read_model.views import SegmentRow

Order = Literal["newest", "highest_score", "lowest_score", "disagreement", "model_gap"]

ORDERS: tuple[Order, ...] = get_args(Order)

ANY = "any"
"""Filter value that matches every row with a value."""

MIN_SEGMENTS_OF_VERSION = 8
"""Scored segments of one reward model that a rank requires."""

_MAX_FACETS = 100


Share = Annotated[float | None, Field(ge=0, le=1)]


@dataclass(frozen=True)
class SegmentFilter:
    """Conditions on a row; None is no condition, and unknown values never match."""

    run: Annotated[str | None, Field(pattern=ID_PATTERN, description="Run.")] = None
    min_score: Annotated[Share, Field(description="Minimum score.")] = None
    max_score: Annotated[Share, Field(description="Maximum score.")] = None
    max_agreement: Annotated[
        Share, Field(description="Maximum agreement of the language models.")
    ] = None
    milestone: Annotated[
        str | None, Field(max_length=100, description="Reached milestone; `any` for any.")
    ] = None
    selected_by: Annotated[
        str | None, Field(max_length=40, description="Reason of the capture.")
    ] = None
    reward_model_version: Annotated[
        int | None, Field(ge=1, description="Reward model in use then.")
    ] = None
    room: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9]{1,3}-[0-9]{1,3}$",
            description="Visited room: group-room, such as 0-119.",
        ),
    ] = None
    scored: Annotated[bool | None, Field(description="Whether it was scored.")] = None

    def keeps(self, row: SegmentRow) -> bool:
        return (
            _equal(self.run, row.run_id)
            and _equal(self.selected_by, row.selected_by)
            and _equal(self.reward_model_version, row.reward_model_version)
            and _equal(self.scored, row.scored_at is not None)
            and _between(row.weighted, self.min_score, self.max_score)
            and _between(row.votes_agreement, None, self.max_agreement)
            and self._shows(row)
        )

    def _shows(self, row: SegmentRow) -> bool:
        reached = row.milestones or ()
        if self.milestone is not None and not (
            reached if self.milestone == ANY else self.milestone in reached
        ):
            return False
        return self.room is None or self.room in (f"{g}-{r}" for g, r in row.rooms or ())


class Place(NamedTuple):
    """Position of a row in an order: the next page starts after it, even if rows were added."""

    value: float
    moved: datetime
    segment_id: str

    def key(self) -> str:
        return json.dumps([self.value, self.moved.isoformat(), self.segment_id])

    @classmethod
    def of_key(cls, key: str) -> "Place":
        try:
            value, moved, segment_id = json.loads(key)
            place = cls(float(value), datetime.fromisoformat(moved), str(segment_id))
        except (TypeError, ValueError) as error:
            raise ValueError("not a place in a list of segments") from error
        if place.moved.tzinfo is None:
            raise ValueError("not a place in a list of segments")
        return place


def place(row: SegmentRow, order: Order) -> Place | None:
    """Position of a row, greatest first; None if its value is unknown."""
    value = _value(row, order)
    moved = last_moved(row)
    return None if value is None or moved is None else Place(value, moved, row.segment_id)


def last_moved(row: SegmentRow) -> datetime | None:
    """Time of the newest stage of a row."""
    times = (row.captured_at, row.exported_at, row.scored_at)
    return max((time for time in times if time), default=None)


def ordered(
    rows: Iterable[SegmentRow], wanted: SegmentFilter, order: Order, after: Place | None
) -> list[SegmentRow]:
    """The matching rows in order, after a place."""
    placed = [(place(row, order), row) for row in rows if wanted.keeps(row)]
    found = [(at, row) for at, row in placed if at and (after is None or at < after)]
    return [row for _, row in sorted(found, key=lambda each: each[0], reverse=True)]


def with_gaps(rows: Sequence[SegmentRow]) -> list[SegmentRow]:
    """The rows with `model_gap`, the difference between reward model and judges.

    Scores and rises of a potential have different scales, so their ranks are compared among the
    scored segments of the same model version.
    """
    by_version: dict[int, list[tuple[str, float, float]]] = defaultdict(list)
    for row in rows:
        version, rise, score = row.reward_model_version, row.model_rise, row.weighted
        if version is not None and rise is not None and score is not None:
            by_version[version].append((row.segment_id, rise, score))
    gaps: dict[str, tuple[float, int]] = {}
    for found in by_version.values():
        if len(found) < MIN_SEGMENTS_OF_VERSION:
            continue
        rises, scores = _ranks([each[1] for each in found]), _ranks([each[2] for each in found])
        for (segment_id, _, _), rise, score in zip(found, rises, scores, strict=True):
            gaps[segment_id] = (rise - score, len(found))
    return [
        row.model_copy(update={"model_gap": gap[0], "model_gap_of": gap[1]})
        if (gap := gaps.get(row.segment_id))
        else row
        for row in rows
    ]


def facets(rows: Sequence[SegmentRow]) -> SegmentFacets:
    """The values of the filters."""
    return SegmentFacets(
        segments=len(rows),
        scored=sum(row.scored_at is not None for row in rows),
        runs=_facets(row.run_id for row in rows),
        selected_by=_facets(row.selected_by for row in rows),
        reward_model_versions=_facets(
            None if row.reward_model_version is None else str(row.reward_model_version)
            for row in rows
        ),
        milestones=_facets(name for row in rows for name in row.milestones or ()),
        with_model_gap=sum(row.model_gap is not None for row in rows),
    )


def _facets(values: Iterable[str | None]) -> tuple[Facet, ...]:
    counts = Counter(value for value in values if value is not None)
    found = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Facet(value=value, segments=n) for value, n in found[:_MAX_FACETS])


def _value(row: SegmentRow, order: Order) -> float | None:
    match order:
        case "newest":
            return 0.0
        case "highest_score":
            return row.weighted
        case "lowest_score":
            return None if row.weighted is None else -row.weighted
        case "disagreement":
            return None if row.votes_agreement is None else -row.votes_agreement
        case "model_gap":
            return None if row.model_gap is None else abs(row.model_gap)


def _equal(wanted: object, found: object) -> bool:
    return wanted is None or wanted == found


def _between(value: float | None, low: float | None, high: float | None) -> bool:
    if low is None and high is None:
        return True
    if value is None:
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for index, value in enumerate(order):
        first.setdefault(value, index)
        last[value] = index
    most = len(values) - 1
    return [(first[value] + last[value]) / 2 / most for value in values]
