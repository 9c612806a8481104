"""Progress of a curriculum along demonstrations.

A demonstration is cut into subtasks, from one lasting flag to the next. Episodes start in a
subtask, at first shortly before its end; that frontier moves back while the policy succeeds.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from rlaif.contracts.model import Contract, Count, Share
from rlaif.contracts.telemetry.search import MarkName

MAX_SEGMENTS = 600
"""Maximum individually reported subtasks; at most 150 kB."""

PhaseName = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,32}$")]


class CurriculumSegment(Contract):
    """A subtask: from one flag to the next on one demonstration."""

    demonstration: Count = Field(description="Number of the demonstration in the run.")
    from_mark: MarkName | None = Field(description="Flag at its start; null: power-on.")
    to_mark: MarkName = Field(description="Goal of episodes that start in it.")
    frontier: Share = Field(
        description="Start of episodes as a share of its length: 1 is at `to_mark`, 0 at its "
        "start: mastered."
    )
    success: Share | None = Field(
        default=None, description="Success rate of the last attempts from the frontier."
    )
    tries: Count = Field(description="Episodes started in it.")


class CurriculumFigures(Contract):
    """State of a curriculum."""

    phase: PhaseName = Field(description="Such as imitation, backward or chaining.")
    power_on_share: Share = Field(
        description="Target share of the frames, played in episodes that start at power-on."
    )
    demonstrations: Count
    all_segments: Count = Field(description="Subtasks of all demonstrations.")
    mastered: Count = Field(description="Subtasks with the frontier at their start.")
    tries: Count = Field(description="Episodes started in any subtask.")
    frontier_mean: Share | None = Field(description="Mean over all subtasks; null without any.")
    success_mean: Share | None = Field(
        description="Over all attempted subtasks; null before the first attempt."
    )
    whole_tries: Count = Field(default=0, description="Last episodes from power-on of all runners.")
    whole_success: Share | None = Field(
        default=None,
        description="Their end-to-end success rate: share that reached the end of the first "
        "demonstration; null before any.",
    )
    segments: tuple[CurriculumSegment, ...] = Field(
        default=(),
        max_length=MAX_SEGMENTS,
        description="By demonstration, in order; if there are too many, without the mastered ones.",
    )
