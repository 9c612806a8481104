"""Where episodes start besides the beginning."""

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL


class ExploreSettings(BaseModel, frozen=True, extra="forbid"):
    """How often episodes start at archived states, and how many are kept."""

    restarts: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of episodes that start at an archived state of a rarely visited place "
        "(ADR 0010).",
    )
    practice: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Share of steps spent on attempts from shortly before a rarely reached "
        "milestone, and from further back as they succeed. Such attempts are excluded from "
        "episode statistics (ADR 0010).",
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
