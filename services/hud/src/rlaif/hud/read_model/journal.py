"""The event log: short sentences with rising ids, so that a reader can ask for what it missed."""

from collections import deque
from datetime import datetime
from typing import Literal

from rlaif.hud.read_model.views import EventsPage, JournalEntry


class Journal:
    """Keeps the newest lines, 300 bytes of JSON each; ids compare within one `epoch` only."""

    def __init__(self, epoch: str, *, keep: int = 1000) -> None:
        self.epoch = epoch
        self.last_id = 0
        self._lines: deque[JournalEntry] = deque(maxlen=keep)

    def write(
        self,
        kind: str,
        text: str,
        *,
        at: datetime,
        about: str | None = None,
        level: Literal["info", "warning"] = "info",
    ) -> None:
        """Add one line with the next id."""
        self.last_id += 1
        self._lines.append(
            JournalEntry(id=self.last_id, at=at, kind=kind, about=about, text=text, level=level)
        )

    def latest(self, count: int) -> tuple[JournalEntry, ...]:
        """The newest lines, oldest first."""
        return tuple(self._lines)[-count:]

    def after(self, last_seen: int, *, limit: int) -> EventsPage:
        """The first `limit` lines whose id is greater than `last_seen`."""
        items = tuple(line for line in self._lines if line.id > last_seen)[:limit]
        oldest = self._lines[0].id if self._lines else self.last_id + 1
        return EventsPage(
            epoch=self.epoch, items=items, gap=last_seen + 1 < oldest, last_id=self.last_id
        )
