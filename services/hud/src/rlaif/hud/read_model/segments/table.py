"""The newest segments and their stages, folded from events in any order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import nlargest, nsmallest

from rlaif.contracts.events import (
    CloudEvent,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.hud.read_model.views import ScoreDetail, SegmentRow

_SLACK = 8
"""The limit may be exceeded by a part of 1 / `_SLACK`, so that the oldest are rarely searched."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class UnreadScore:
    """A score object that the table has not read yet."""

    segment_id: str
    score_key: str
    score_sha256: str


class SegmentTable:
    """Rows by segment id, 1 kB each, 3 kB with its score; those with the latest stage are kept."""

    def __init__(self, *, keep: int = 2000) -> None:
        self._keep = keep
        self._rows: dict[str, SegmentRow] = {}
        self._unread: dict[str, UnreadScore] = {}

    def captured(self, event: CloudEvent[SegmentCaptured]) -> None:
        data = event.data
        self._merge(
            data,
            env_step=data.env_step,
            decision_steps=data.decision_steps,
            captured_at=event.time,
            selected_by=data.selected_by,
            reward_model_version=data.reward_model_version,
            rooms=data.rooms,
            milestones=data.milestones,
            model_rise=data.model_rise,
        )

    def exported(self, event: CloudEvent[SegmentExported]) -> None:
        data = event.data
        self._merge(
            data,
            frames=data.frames,
            decision_steps=data.decision_steps,
            exported_at=event.time,
        )

    def scored(self, event: CloudEvent[SegmentScored]) -> None:
        """Fold a score; of several judge configurations the newest score is shown."""
        data = event.data
        row = self._rows.get(data.segment_id)
        if row is not None and row.scored_at is not None and row.scored_at >= event.time:
            return
        self._merge(
            data,
            scored_at=event.time,
            judge_config=data.judge_config,
            weighted=data.weighted,
            abstained=data.abstained,
            votes_agreement=data.agreement,
            score=None,
            score_problem=None,
        )
        if data.segment_id in self._rows:
            self._unread[data.segment_id] = UnreadScore(
                data.segment_id, data.score_key, data.score_sha256
            )

    def unread(self, limit: int) -> list[UnreadScore]:
        """Score objects of the newest scored segments that were not read yet."""
        newest = _by_score(self._rows.values(), limit)
        wanted = (self._unread.get(row.segment_id) for row in newest)
        return [score for score in wanted if score is not None]

    def score_delayed(self, score: UnreadScore, problem: str) -> bool:
        """Set the row's problem until the object can be read; returns False if it is unchanged."""
        row = self._rows.get(score.segment_id)
        if self._unread.get(score.segment_id) != score or row is None:
            return False
        self._rows[score.segment_id] = row.model_copy(update={"score_problem": problem})
        return row.score_problem != problem

    def score_read(
        self,
        score: UnreadScore,
        detail: ScoreDetail | None,
        *,
        env_step: int | None = None,
        problem: str | None = None,
    ) -> None:
        """Attach the content of the object, or the reason why it could not be read.

        The content of a score that was replaced by a newer one is dropped.
        """
        if self._unread.get(score.segment_id) != score:
            return
        del self._unread[score.segment_id]
        row = self._rows[score.segment_id]
        self._rows[score.segment_id] = row.model_copy(
            update={
                "score": detail,
                "score_problem": problem,
                "env_step": row.env_step if row.env_step is not None else env_step,
            }
        )

    def get(self, segment_id: str) -> SegmentRow | None:
        return self._rows.get(segment_id)

    def newest(self, limit: int) -> tuple[SegmentRow, ...]:
        """Scored segments whose score object was read or has a problem, newest first.

        The event has only the weighted mean, which is not shown without its criteria.
        """
        known = (row for row in self._rows.values() if row.score or row.score_problem)
        return tuple(_by_score(known, limit))

    def listing(self) -> Iterator[SegmentRow]:
        rows = [row for row in self._rows.values() if row.exported_at or row.scored_at]
        return iter(sorted(rows, key=_moved, reverse=True))

    def _merge(
        self, data: SegmentCaptured | SegmentExported | SegmentScored, **news: object
    ) -> None:
        row = self._rows.get(data.segment_id) or SegmentRow(
            segment_id=data.segment_id, episode_id=data.episode_id, run_id=data.run_id
        )
        self._rows[data.segment_id] = row.model_copy(update=news)
        if len(self._rows) > self._keep + self._keep // _SLACK:
            self._forget(len(self._rows) - self._keep)

    def _forget(self, count: int) -> None:
        for oldest in nsmallest(count, self._rows.values(), key=_moved):
            del self._rows[oldest.segment_id]
            self._unread.pop(oldest.segment_id, None)


def _by_score(rows: Iterable[SegmentRow], limit: int) -> list[SegmentRow]:
    scored = (row for row in rows if row.scored_at is not None)
    return nlargest(limit, scored, key=lambda row: (row.scored_at or _LONG_AGO, row.segment_id))


def _moved(row: SegmentRow) -> tuple[datetime, str]:
    times = (row.captured_at, row.exported_at, row.scored_at)
    return max((time for time in times if time), default=_LONG_AGO), row.segment_id
