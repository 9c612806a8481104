"""Scores of the judges by run, for comparisons and for the chart of scored segments."""

import hashlib
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple, TypeVar

from rlaif.contracts.events import SegmentCaptured, SegmentScored
from rlaif.hud.read_model.history.views import ScorePoint, ScorePointsView

V = TypeVar("V")

WINDOW = 20
"""Number of segments in a moving mean."""


class _Captured(NamedTuple):
    env_step: int
    is_fair: bool


class Scores:
    """Scores of all runs, in any order; at most `keep` per run, else an even sample."""

    def __init__(self, *, keep: int = 3000, runs: int = 20) -> None:
        self._keep = keep
        self._runs = runs
        self._scores: dict[str, dict[str, ScorePoint]] = {}
        self._levels: dict[str, int] = {}
        self._captured: dict[str, _Captured] = {}
        self._waiting: dict[str, SegmentScored] = {}

    def captured(self, event: SegmentCaptured) -> None:
        is_fair = event.selected_by == "uniform" and bool(event.from_own_start)
        captured = _Captured(event.env_step, is_fair)
        scored = self._waiting.pop(event.segment_id, None)
        if scored is None:
            _put(self._captured, event.segment_id, captured, most=2 * self._keep)
        else:
            self._add(captured, scored)

    def scored(self, event: SegmentScored) -> None:
        """Add or replace a score; one without a value removes it."""
        known = self._scores.get(event.run_id, {}).get(event.segment_id)
        if event.weighted is None:
            self._scores.get(event.run_id, {}).pop(event.segment_id, None)
            return
        captured = self._captured.pop(event.segment_id, None)
        if known is not None:
            captured = _Captured(known.env_step, known.is_fair)
        if captured is not None:
            self._add(captured, event)
        else:
            _put(self._waiting, event.segment_id, event, most=2 * self._keep)

    def of(self, run_id: str | None) -> list[ScorePoint]:
        scores = self._scores.get(run_id or "", {}).values()
        return sorted(scores, key=lambda score: (score.env_step, score.segment_id))

    def _add(self, captured: "_Captured", scored: SegmentScored) -> None:
        run_id, segment_id = scored.run_id, scored.segment_id
        # The run becomes the newest: a resumed one is kept while others are dropped.
        _put(self._scores, run_id, self._scores.pop(run_id, {}), most=self._runs)
        scores, level = self._scores[run_id], self._levels.get(run_id, 0)
        if _hash(segment_id) % (1 << level):
            return
        assert scored.weighted is not None  # others are removed
        scores[segment_id] = ScorePoint(
            **captured._asdict(),
            weighted=scored.weighted,
            position=scored.position,
            episode_id=scored.episode_id,
            segment_id=segment_id,
        )
        while len(scores) > self._keep:
            level += 1
            self._levels[run_id] = level
            scores = {key: kept for key, kept in scores.items() if _hash(key) % (1 << level) == 0}
            self._scores[run_id] = scores


def by_episode(
    scores: Sequence[ScorePoint], value: Callable[[ScorePoint], float | None]
) -> list[float]:
    """The mean of each episode, the newest last: segments of an episode are not independent.

    Uses uniform samples only: others are chosen by their content, with a rule that changes with
    the reward model.
    """
    groups: dict[str, list[float]] = {}
    for score in scores:
        if not score.is_fair or (known := value(score)) is None:
            continue
        # The order is that of the newest segments.
        groups[score.episode_id] = [*groups.pop(score.episode_id, []), known]
    return [fmean(group) for group in groups.values()]


def score_points(run_id: str | None, scores: Sequence[ScorePoint], most: int) -> ScorePointsView:
    """At most `most` of the scores of one run, and of their moving mean."""
    means = trailing_means([(score.env_step, score.weighted) for score in scores], WINDOW)
    return ScorePointsView(
        run_id=run_id,
        scored=len(scores),
        window=WINDOW,
        means=tuple(thin(means, most)),
        points=tuple(thin_to_extremes(scores, most)),
    )


def thin_to_extremes(scores: Sequence[ScorePoint], most: int) -> list[ScorePoint]:
    """At most `most` scores: the lowest and the highest of each interval, and the newest.

    An even sample would drop the segments that people look for.
    """
    if len(scores) <= most:
        return list(scores)
    older, newest = scores[:-1], scores[-1]
    intervals = max(1, (most - 1) // 2)
    kept: list[ScorePoint] = []
    for number in range(intervals):
        first, end = (len(older) * each // intervals for each in (number, number + 1))
        by_score = sorted(range(first, end), key=lambda index: older[index].weighted)
        kept += [older[index] for index in sorted({by_score[0], by_score[-1]})]
    return [*kept, newest]


def thin(points: list[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Every n-th point, at most `most` of them, and the newest one."""
    stride = 1
    while len(points) > stride * most:
        stride *= 2
    picked = points[::stride]
    return picked if (len(points) - 1) % stride == 0 else [*picked, points[-1]]


def trailing_means(points: list[tuple[int, float]], window: int) -> list[tuple[int, float]]:
    """The mean of each value and up to `window - 1` values before it."""
    values = [value for _, value in points]
    return [
        (step, fmean(values[max(0, index + 1 - window) : index + 1]))
        for index, (step, _) in enumerate(points)
    ]


def _hash(segment_id: str) -> int:
    return int.from_bytes(hashlib.blake2b(segment_id.encode(), digest_size=4).digest())


def _put(of: dict[str, V], key: str, value: V, *, most: int) -> None:
    of[key] = value
    while len(of) > most:
        del of[next(iter(of))]
