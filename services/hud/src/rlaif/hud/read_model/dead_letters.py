"""Events that consumers gave up, counted once each."""

from collections import Counter

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import DeadLetter
from rlaif.hud.read_model.loop_counts import Seen
from rlaif.hud.read_model.views import DeadLetterRow, DeadLettersView

KEPT = 1000
"""Letters whose place is remembered, 400 bytes each; of more the oldest cannot be taken away."""


class DeadLetters:
    """Counts dead letters and keeps the newest ones."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._count = 0
        self._consumers: Counter[str] = Counter()
        self._rows: list[DeadLetterRow] = []

    def add(self, event: CloudEvent[DeadLetter]) -> bool:
        """Fold one dead letter; False when it was known."""
        if not self._seen.first(event.id):
            return False
        self._count += 1
        self._consumers[event.data.consumer] += 1
        row = DeadLetterRow(**event.data.model_dump(exclude={"original", "subject"}))
        self._rows.append(row)
        if len(self._rows) > KEPT:
            self._rows.remove(min(self._rows, key=lambda each: each.dead_at))
        return True

    def remove(self, event_id: str) -> bool:
        """The letters of this event were taken away; False when none is known."""
        gone = [row for row in self._rows if row.event_id == event_id]
        self._rows = [row for row in self._rows if row.event_id != event_id]
        self._count -= len(gone)
        self._consumers.subtract(row.consumer for row in gone)
        return bool(gone)

    def of_consumer(self, consumer: str) -> int:
        """How many one consumer gave up."""
        return self._consumers[consumer]

    def view(self, *, followed: bool) -> DeadLettersView:
        """The count is null until the streams are followed."""
        last = max(self._rows, key=lambda row: row.dead_at, default=None)
        return DeadLettersView(count=self._count if followed else None, last=last)
