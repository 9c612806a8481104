"""Takeover: when a planner is asked for a plan, and how much of the play it may have."""

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL


class TakeoverSettings(BaseModel, frozen=True, extra="forbid"):
    """The limits of what a planner plays; nothing of it counts without a planner."""

    share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Maximum share of the steps of an episode that the planner may play. 0 "
        "disables planner control.",
    )
    max_steps: int = Field(default=400, ge=1, json_schema_extra=INTERNAL)
    """Maximum decision steps of one takeover; 400 are 27 seconds of game time."""
    looks: int = Field(default=3, ge=1, json_schema_extra=INTERNAL)
    """Consecutive decision steps that must show a dialog or a puzzle, or none, before that counts;
    fixed by the seeds."""
    rest_steps: int = Field(default=300, ge=0, json_schema_extra=INTERNAL)
    """Decision steps without a request after a takeover that failed or had no effect. They double
    with each consecutive one, up to 16 times (ADR 0023)."""
    patience_steps: int = Field(default=20_000, ge=1, json_schema_extra=INTERNAL)
    """Decision steps after which an environment asks again although no answer arrived."""
