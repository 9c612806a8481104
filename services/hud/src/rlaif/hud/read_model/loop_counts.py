"""How many segments of each run passed each station of the ring.

Each stream is followed by itself, so the events of one segment come in any order, and a stream may
have dropped its oldest ones. But a segment that was scored was exported, and one that was exported
was captured: it is counted at all stations up to the one that is known, and no station ever shows
more than the one before it.
"""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Literal

Stage = Literal["captured", "exported", "scored"]
STAGES: tuple[Stage, ...] = ("captured", "exported", "scored")


class Seen:
    """Remembers which things were seen, 8 bytes of digest each.

    Reconcilers send an event again at any later time, so this cannot forget. A million entries
    are about 90 MB less than their ids would be; two of them collide with probability 3e-8.
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def first(self, *parts: str) -> bool:
        """True the first time it is asked for these parts."""
        digest = blake2b("\0".join(parts).encode(), digest_size=8).digest()
        if digest in self._digests:
            return False
        self._digests.add(digest)
        return True


@dataclass
class RunCounts:
    """Distinct segments of one run that came at least to each stage, and when the last one did."""

    counts: dict[Stage, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    last_at: dict[Stage, datetime] = field(default_factory=dict)
    without_score: int = 0


class LoopCounts:
    """Counts by run; the current run is the trainer's, or else that of the newest event."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._reached = Seen()
        self._runs: dict[str, RunCounts] = {}
        self._newest: tuple[datetime, str] | None = None
        self._reported: str | None = None

    @property
    def run_id(self) -> str | None:
        """The current run."""
        return self._reported or (self._newest[1] if self._newest else None)

    def report_run(self, run_id: str) -> None:
        """The trainer says which run this is."""
        self._reported = run_id

    def count(self, stage: Stage, run_id: str, segment_id: str, at: datetime) -> bool:
        """Count a segment at a stage and at those before it; False when this event was known."""
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
        """The segment that was just counted as scored has no score."""
        self._runs[run_id].without_score += 1

    def current(self) -> RunCounts:
        """Counts of the current run."""
        return self._runs.get(self.run_id or "", RunCounts())
