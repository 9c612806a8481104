"""Where episodes start besides the beginning."""

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL


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
    save_frames: int | None = Field(default=None, ge=1, json_schema_extra=INTERNAL)
    """Game frames of a runner between two archived states; milestones are saved at once. None:
    4,000, and 64,000 with the seed action set."""
    states: int = Field(default=512, ge=16, json_schema_extra=INTERNAL)
    """Archived states kept per run; 3 to 13 kB of disk each."""

    @property
    def keeps_states(self) -> bool:
        """Whether any episode ever starts at an archived state."""
        return self.restarts > 0 or self.practice > 0
