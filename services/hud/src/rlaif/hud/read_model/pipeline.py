"""Counts of the pipeline: segments per stage and run, and dead letters."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Literal

from rlaif.contracts.events import CloudEvent, DeadLetter
from rlaif.hud.read_model.views import DeadLettersView

Stage = Literal["captured", "exported", "scored"]
STAGES: tuple[Stage, ...] = ("captured", "exported", "scored")


class Seen:
    """A set of ids, 8 bytes of digest each.

    Reconcilers may repeat an event at any later time, so nothing is dropped. Two of a million
    entries collide with probability 3e-8.
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def first(self, *parts: str) -> bool:
        digest = blake2b("\0".join(parts).encode(), digest_size=8).digest()
        if digest in self._digests:
            return False
        self._digests.add(digest)
        return True


@dataclass
class RunCounts:
    """Distinct segments of one run that reached each stage, and the time of the newest."""

    counts: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    last_at: dict[Stage, datetime] = field(default_factory=dict)
    without_score: int = 0


class PipelineCounts:
    """Counts by run, and dead letters.

    Events of one segment come in any order, and a stream may have dropped its oldest ones. A
    segment that was scored was exported and captured; it counts at all stages up to its newest, so
    that no stage has more segments than the one before it. Until the streams are `followed`, a
    count of nothing is unknown, not 0.
    """

    def __init__(self) -> None:
        self.followed = False
        self.dead = DeadLetters()
        self._seen = Seen()
        self._reached = Seen()
        self._runs: dict[str, RunCounts] = {}
        self._newest: tuple[datetime, str] | None = None

    @property
    def newest_run_id(self) -> str | None:
        return self._newest[1] if self._newest else None

    def count(self, stage: Stage, run_id: str, segment_id: str, at: datetime) -> bool:
        """Count a segment at a stage and those before it; False when this event was known."""
        if self._newest is None or at > self._newest[0]:
            self._newest = (at, run_id)
        if not self._seen.first(stage, segment_id):
            return False
        run = self._runs.setdefault(run_id, RunCounts())
        for each in STAGES[: STAGES.index(stage) + 1]:
            run.counts[each] += self._reached.first(each, segment_id)
        run.last_at[stage] = max(at, run.last_at.get(stage, at))
        return True

    def count_abstention(self, run_id: str) -> None:
        self._runs[run_id].without_score += 1

    def of(self, run_id: str | None) -> RunCounts:
        return self._runs.get(run_id or "", RunCounts())


class DeadLetters:
    """Dead letters that were not sent again."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._consumers: dict[str, list[str]] = {}
        """Dead event → consumers that could not handle it."""

    def add(self, event: CloudEvent[DeadLetter]) -> bool:
        """Add one dead letter; False when it was known."""
        if not self._seen.first(event.id):
            return False
        self._consumers.setdefault(event.data.event_id, []).append(event.data.consumer)
        return True

    def remove(self, event_id: str) -> bool:
        """Remove the letters of an event; False when there is none."""
        return self._consumers.pop(event_id, None) is not None

    def of_consumer(self, consumer: str) -> int:
        return sum(each.count(consumer) for each in self._consumers.values())

    def view(self, *, followed: bool) -> DeadLettersView:
        """The count is null until the streams are followed."""
        count = sum(map(len, self._consumers.values()))
        return DeadLettersView(count=count if followed else None)
