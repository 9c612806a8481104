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
    practice: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Share of the steps that is spent on tries from shortly before a milestone "
        "which play came to once, and from farther before it as they reach it again; 0 forgets "
        "rare finds. No figure of episodes counts tries (ADR 0010).",
    )
    save_frames: int | None = Field(
        default=None,
        ge=1,
        description="Game frames of a runner, all its environments together, between two archived "
        "states; milestones are saved at once. A save takes as long as 1,000 frames of play, and "
        "none is made where the archive has a state as good: few finds more ways to go on from. "
        "Unset: 4,000, and 64,000 with ACTIONS seed.",
    )
    states: int = Field(
        default=512, ge=16, description="Archived states a run keeps; 3 to 13 kB of disk each."
    )

    @property
    def keeps_states(self) -> bool:
        """Whether any episode ever starts at an archived state."""
        return self.restarts > 0 or self.practice > 0
