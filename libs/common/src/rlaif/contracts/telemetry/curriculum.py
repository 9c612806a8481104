"""Progress of a curriculum along demonstrations.

A demonstration is cut into segments, from one lasting mark to the next. Episodes begin in a
segment, first shortly before its end; that frontier moves back while the policy succeeds.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from rlaif.contracts.model import Contract
from rlaif.contracts.telemetry.search import MarkName

MAX_SEGMENTS = 600
"""Reported one by one; that is 150 kB at most."""

PhaseName = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,32}$")]
Share = Annotated[float, Field(ge=0, le=1)]


class CurriculumSegment(Contract):
    """The way from one mark to the next on one demonstration."""

    demonstration: int = Field(ge=0, description="Its number in the run.")
    from_mark: MarkName | None = Field(description="Where it begins; null: power-on.")
    to_mark: MarkName = Field(description="What an episode that starts in it has to reach.")
    frontier: Share = Field(
        description="Where episodes start, of its length: 1 is at `to_mark`, 0 is its beginning, "
        "and then all of it can be done."
    )
    success: Share | None = Field(
        default=None, description="Of the last tries from the frontier; null before the first."
    )
    tries: int = Field(ge=0, description="Episodes that started in it so far.")


class CurriculumFigures(Contract):
    """Where a curriculum stands."""

    phase: PhaseName = Field(description="Such as imitation, backward or chaining.")
    power_on_share: Share = Field(description="Of the episodes that start at power-on.")
    demonstrations: int = Field(ge=0)
    all_segments: int = Field(ge=0, description="Segments of all demonstrations.")
    mastered: int = Field(ge=0, description="Of these: with the frontier at their beginning.")
    tries: int = Field(ge=0, description="Episodes that started in any of them so far.")
    frontier_mean: Share | None = Field(description="Of all segments; null without any.")
    success_mean: Share | None = Field(
        description="Of all segments that were tried; null before the first attempt."
    )
    whole_tries: int = Field(
        default=0, ge=0, description="Last episodes from power-on, with all runners together."
    )
    whole_success: Share | None = Field(
        default=None,
        description="Of these, that came to the end of the first demonstration; null before any.",
    )
    segments: tuple[CurriculumSegment, ...] = Field(
        default=(),
        max_length=MAX_SEGMENTS,
        description="By demonstration, in their order; of too many the mastered are left out.",
    )
