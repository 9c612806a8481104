"""Where episodes start besides the beginning."""

from pydantic import BaseModel, Field


class ExploreSettings(BaseModel, frozen=True, extra="forbid"):
    """How often episodes start at archived states, and how many are kept."""

    restarts: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of episodes that start at an archived state of a seldom visited place; "
        "0 starts all of them at the beginning (ADR 0010).",
    )
    swarm: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Chance that an episode starts where another environment just reached a "
        "milestone. It fades from start to start; 0 never does.",
    )
    states: int = Field(
        default=512, ge=16, description="Archived states a run keeps; 3 to 13 kB of disk each."
    )

    @property
    def keeps_states(self) -> bool:
        """Whether any episode ever starts at an archived state."""
        return self.restarts > 0 or self.swarm > 0
