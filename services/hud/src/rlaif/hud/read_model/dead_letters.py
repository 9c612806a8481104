"""Events that consumers gave up, counted once each."""

from collections import Counter

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import DeadLetter
from rlaif.hud.read_model.loop_counts import Seen
from rlaif.hud.read_model.views import DeadLetterRow, DeadLettersView


class DeadLetters:
    """Counts dead letters and keeps the newest one."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._count = 0
        self._consumers: Counter[str] = Counter()
        self._last: DeadLetterRow | None = None

    def add(self, event: CloudEvent[DeadLetter]) -> bool:
        """Fold one dead letter; False when it was known."""
        if not self._seen.first(event.id):
            return False
        self._count += 1
        self._consumers[event.data.consumer] += 1
        if self._last is None or event.data.dead_at >= self._last.dead_at:
            self._last = DeadLetterRow(**event.data.model_dump(exclude={"original", "subject"}))
        return True

    def of_consumer(self, consumer: str) -> int:
        """How many one consumer gave up."""
        return self._consumers[consumer]

    def view(self, *, followed: bool) -> DeadLettersView:
        """The count is null until the streams are followed."""
        return DeadLettersView(count=self._count if followed else None, last=self._last)
