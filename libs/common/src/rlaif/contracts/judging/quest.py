"""Position of the player on the quest: the scale of a segment's label value.

For the start and the end of a segment, a judge names the next objective of the game's guide and the
remaining distance to it. The position is the number of objectives reached plus 0.9 * the covered
share of the path to the next one. The label of a segment is the rise of the position, as the
shaping reward is the rise of the potential.
"""

from typing import Literal

from pydantic import Field

from rlaif.contracts.model import Contract, Positive, Share

Source = Literal["votes", "computed", "human"]
"""Source of a judgement: language models, the game's RAM, or a person."""

FARTHEST = 20
"""Maximum reported distance in half screens; a screen is 160 pixels wide."""

_PATH_SHARE = 0.9
"""Part of an objective for the path to it; the rest is for reaching it."""

SAME_PLACE = 0.03
"""Smaller rises count as 0; half a screen is 0.045."""


class QuestPosition(Contract):
    """Position of the player at one time, from the votes."""

    objective: Positive = Field(description="Number of the guide's next objective.")
    distance: float = Field(ge=0, le=FARTHEST, description="In half screens, mean of the votes.")

    @property
    def position(self) -> float:
        return self.objective - 1 + _PATH_SHARE * (1.0 - self.distance / FARTHEST)


class QuestProgress(Contract):
    """Positions at the start and the end of a segment."""

    start: QuestPosition
    end: QuestPosition
    objectives: Positive = Field(description="Objectives of the guide.")
    votes: Positive = Field(description="Valid votes.")
    agreement: Share = Field(description="Share of them with these objectives.")
    doubt: float = Field(default=0.0, ge=0, description="Variance of the mean rise.")
    judge: str
    source: Source = "votes"

    @property
    def rise(self) -> float:
        """Progress in objectives; negative for a regression."""
        return self.end.position - self.start.position


def level_of_rise(rise: float) -> int:
    """The rubric's level of progress: 2 closer, 1 equal, 0 farther."""
    if abs(rise) < SAME_PLACE:
        return 1
    return 2 if rise > 0 else 0
