"""Counts of the pipeline: segments per stage and run, and dead letters."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Literal

from rlaif.contracts.events import CloudEvent, DeadLetter
from rlaif.hud.read_model.views import DeadLetterRow, DeadLettersView

Stage = Literal["captured", "exported", "scored"]
STAGES: tuple[Stage, ...] = ("captured", "exported", "scored")

MAX_LETTERS = 1000
"""Dead letters that are kept, up to 3 kB each."""


NEWEST_SEGMENTS = 500_000
"""More than the default streams hold, which a restart reads: 160 MiB are some 270,000."""


class Flags:
    """Bits by id, for the last `limit` to `2 * limit` used ids; some 100 bytes each.

    Others are dropped. Two of a million collide with probability 3e-8.
    """

    def __init__(self, limit: int = NEWEST_SEGMENTS) -> None:
        self._limit = limit
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def add(self, name: str, bits: int) -> int:
        """Set bits of an id; returns those that were not set before."""
        key = int.from_bytes(blake2b(name.encode(), digest_size=8).digest())
        before = self._new.get(key) or self._old.pop(key, 0)
        self._new[key] = before | bits
        if len(self._new) >= self._limit:
            self._old, self._new = self._new, {}
        return bits & ~before


@dataclass
class RunCounts:
    """Distinct segments of one run that reached each stage, and the time of the newest."""

    counts: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    last_at: dict[Stage, datetime] = field(default_factory=dict)
    without_score: int = 0


class PipelineCounts:
    """Counts by run, and dead letters.

    Events of one segment arrive in any order, and a stream may have dropped its oldest ones. A
    scored segment was also exported and captured; it counts at all stages up to its newest, so
    that no stage has more segments than the previous one. Until the streams are `followed`, an
    empty count is unknown, not 0.
    """

    def __init__(self) -> None:
        self.followed = False
        self.dead = DeadLetters()
        self._segments = Flags()
        self._runs: dict[str, RunCounts] = {}
        self._newest: tuple[datetime, str] | None = None

    @property
    def newest_run_id(self) -> str | None:
        return self._newest[1] if self._newest else None

    def count(self, stage: Stage, run_id: str, segment_id: str, at: datetime) -> bool:
        """Count a segment at a stage and the earlier ones; returns False if it was counted."""
        if self._newest is None or at > self._newest[0]:
            self._newest = (at, run_id)
        number = STAGES.index(stage)
        told, reached = 1 << len(STAGES) + number, (2 << number) - 1
        new = self._segments.add(segment_id, told | reached)
        if not new & told:
            return False
        run = self._runs.setdefault(run_id, RunCounts())
        for place, each in enumerate(STAGES):
            run.counts[each] += new >> place & 1
        run.last_at[stage] = max(at, run.last_at.get(stage, at))
        return True

    def count_abstention(self, run_id: str) -> None:
        self._runs[run_id].without_score += 1

    def of(self, run_id: str | None) -> RunCounts:
        return self._runs.get(run_id or "", RunCounts())


class DeadLetters:
    """Dead letters that were not sent again; the newest `MAX_LETTERS` can be listed."""

    def __init__(self) -> None:
        self._seen = Flags()
        self._consumers: dict[str, list[str]] = {}
        """Dead event → consumers that could not handle it."""
        self._rows: deque[DeadLetterRow] = deque(maxlen=MAX_LETTERS)

    def add(self, event: CloudEvent[DeadLetter]) -> bool:
        """Add one dead letter; returns False if it was known."""
        if not self._seen.add(event.id, 1):
            return False
        self._consumers.setdefault(event.data.event_id, []).append(event.data.consumer)
        shown = event.data.model_dump(include=set(DeadLetterRow.model_fields))
        self._rows.appendleft(DeadLetterRow(**shown))
        return True

    def remove(self, event_id: str) -> bool:
        """Remove the letters of an event; returns False if there are none."""
        return self._consumers.pop(event_id, None) is not None

    @property
    def count(self) -> int:
        return sum(map(len, self._consumers.values()))

    def newest(self, limit: int) -> list[DeadLetterRow]:
        rows = (row for row in self._rows if row.event_id in self._consumers)
        return list(islice(rows, limit))

    def view(self, *, followed: bool) -> DeadLettersView:
        """The dead letters as JSON; the count is null until the streams are followed."""
        return DeadLettersView(count=self.count if followed else None)
