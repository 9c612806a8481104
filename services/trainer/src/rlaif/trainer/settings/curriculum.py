"""Learning along demonstrations: what is imitated, and where episodes start because of it."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL


class CurriculumSettings(BaseModel, frozen=True, extra="forbid"):
    """Starts that move back along demonstrations, and imitation of them (ADR 0031)."""

    path: Path | None = Field(
        default=None,
        description="Directory of demonstrations. Unset: no curriculum.",
    )
    tries: int = Field(default=12, ge=2, le=256, json_schema_extra=INTERNAL)
    """Last attempts from a frontier that decide whether it moves."""
    success: float = Field(default=0.5, gt=0, lt=1, json_schema_extra=INTERNAL)
    """Success rate of those attempts above which the frontier of a subtask moves back."""
    behind: float = Field(default=0.25, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the starts of a subtask between its frontier and its end."""
    power_on: float = Field(default=0.1, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the play, in frames, that starts at power-on while no subtask is mastered."""
    chained: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """The same once every subtask is mastered; interpolated quadratically."""
    noised: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the starts on demonstrations randomized by `noop_start` and `walk_start`."""
    arrived: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the attempts of a whole subtask that start where play arrived at its beginning."""
    goes_on: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Chance that an episode continues into the next subtask instead of being truncated."""
    patience: float = Field(default=3.0, ge=1, json_schema_extra=INTERNAL)
    """An episode from a demonstration is truncated after this many times the frames of the
    demonstration."""
    warm_start: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description="Gradient steps of 256 decisions that imitate the demonstrations before PPO "
        "starts. 0 disables it.",
    )
    strayed: float = Field(default=0.2, ge=0, lt=1, json_schema_extra=INTERNAL)
    """Share of the inputs of half of the imitated timesteps that is replaced by those of others,
    so that a decision does not depend on coincidences."""
    entropy: float = Field(default=0.01, ge=0, json_schema_extra=INTERNAL)
    """Minimum weight of the entropy bonus while no subtask is mastered; it falls with the share of
    those that are."""
    imitation: float = Field(
        default=0.1,
        ge=0,
        description="Weight of the imitation of subtasks that are not mastered, beside the PPO "
        "loss. 0 disables it.",
    )

    def absolute(self) -> Self:
        """The same for processes that run in other folders."""
        path = None if self.path is None else self.path.resolve()
        return self.model_copy(update={"path": path})
