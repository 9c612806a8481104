"""Which captured segment of each run was the first to reach each milestone, as far as is known."""

from dataclasses import dataclass
from datetime import datetime

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentCaptured

MOST_RUNS = 20
MOST_MILESTONES = 500
"""Of a run; a game's story has fewer."""


@dataclass(frozen=True, order=True, slots=True)
class FirstSegment:
    """A segment that reached a milestone; in the order of the run's steps."""

    env_step: int
    segment_id: str
    episode_id: str
    at: datetime


class FirstReached:
    """Folds captures in any order; forgets the runs that it heard of first."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, FirstSegment]] = {}

    def captured(self, event: CloudEvent[SegmentCaptured]) -> None:
        """A segment was stored."""
        data = event.data
        if not data.milestones:
            return
        found = FirstSegment(data.env_step, data.segment_id, data.episode_id, event.time)
        known = self._runs.setdefault(data.run_id, {})
        for milestone in data.milestones:
            if milestone in known or len(known) < MOST_MILESTONES:
                known[milestone] = min(found, known.get(milestone, found))
        while len(self._runs) > MOST_RUNS:
            del self._runs[next(iter(self._runs))]

    def of(self, run_id: str | None) -> dict[str, FirstSegment]:
        """Milestone → the first segment that is known to reach it."""
        return dict(self._runs.get(run_id or "", {}))
