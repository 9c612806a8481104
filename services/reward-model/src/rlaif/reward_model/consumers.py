"""What the service does with an event: note that there is a new score; the store has the rest."""

from typing import Any

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentScored
from rlaif.reward_model.training import Training


class ScoreListener:
    """Handles `SegmentScored`."""

    def __init__(self, training: Training) -> None:
        """Wake `training` for each score."""
        self._training = training

    async def handle_segment_scored(self, event: CloudEvent[Any]) -> None:
        """Wake the training task; losing this event would only delay it."""
        scored: SegmentScored = event.data
        self._training.hint(scored.score_key)
