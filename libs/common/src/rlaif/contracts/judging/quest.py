"""Where the player stands on the quest: the one scale of a segment's worth.

A judge that has read the game's guide says, for the start and for the end of a segment, which of
the guide's numbered objectives is next and how far the way there still is. Both together are one
number, the position: objectives behind, less the share of the way to the next one. What a segment
is worth is how far the position rose, and a rise of the potential is what the trainer pays, so
what is asked, learned, tested and paid is the same thing.
"""

from typing import Literal

from pydantic import Field

from rlaif.contracts.model import Contract

Source = Literal["votes", "computed", "human"]
"""Where a judgement comes from: language models, the game's RAM, or a person."""

FARTHEST = 20
"""Largest distance that is reported, in half screens; a screen is 160 pixels wide."""

_WAY = 0.9
"""Positions that the way to an objective takes; the rest is for reaching it."""

SAME_PLACE = 0.03
"""Rises smaller than this are none: less than one half screen, which is 0.045."""


class Standing(Contract):
    """Where the player stands at one moment, as the votes have it."""

    objective: int = Field(ge=1, description="Number of the guide's objective that is next.")
    distance: float = Field(
        ge=0, le=FARTHEST, description="Way to it in half screens, the mean of the votes."
    )

    @property
    def position(self) -> float:
        """Objectives behind the player, and the share of the way to the next one."""
        return self.objective - 1 + _WAY * (1.0 - self.distance / FARTHEST)


class QuestProgress(Contract):
    """Where a segment started and ended on the quest."""

    start: Standing
    end: Standing
    objectives: int = Field(ge=1, description="Objectives of the guide.")
    votes: int = Field(ge=1, description="Valid votes.")
    agreement: float = Field(ge=0, le=1, description="Share of them with these objectives.")
    doubt: float = Field(default=0.0, ge=0, description="Variance of the mean rise.")
    judge: str
    source: Source = "votes"

    @property
    def rise(self) -> float:
        """How far the player came, in objectives; below 0 is away from it."""
        return self.end.position - self.start.position


def level_of_rise(rise: float) -> int:
    """The rubric's level of progress: 2 came closer, 1 stayed, 0 went away."""
    if abs(rise) < SAME_PLACE:
        return 1
    return 2 if rise > 0 else 0
