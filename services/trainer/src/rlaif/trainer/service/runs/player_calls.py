"""What came of questions to the language model that plays, kept until it is told."""

from collections import deque
from datetime import UTC, datetime

from rlaif.contracts.ids import Id
from rlaif.contracts.telemetry import PlayerCall
from rlaif.trainer.run_folder.protocol import IterationDone

_MOST = 100
"""Nobody takes them while NATS is away."""


class PlayerCalls:
    """The newest ones that were not told yet."""

    def __init__(self) -> None:
        self._waiting: deque[PlayerCall] = deque(maxlen=_MOST)

    def note(self, run_id: Id, done: IterationDone) -> None:
        """Keep what an iteration tells."""
        if done.assistance is None:
            return
        now = datetime.now(UTC)
        self._waiting.extend(
            PlayerCall(at=now, run_id=run_id, **event.model_dump())
            for event in done.assistance.events
        )

    def take(self) -> list[PlayerCall]:
        """All of them, oldest first; each is given once."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken
