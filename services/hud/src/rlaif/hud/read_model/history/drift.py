"""Is the live reward model paying more and more for what judges think less and less of?

The past of a run and its scores in; two curves and a verdict out. Only ranks are compared, among
the episodes that one model paid: a model that pays ten times as much, or judges who are stricter
throughout, change nothing.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeVar

from rlaif.hud.read_model.history.bootstrap import LEAST
from rlaif.hud.read_model.history.run_story import Episode, RunStory
from rlaif.hud.read_model.history.scores import Score

WINDOW = 400
"""Episodes that are looked back on: the newest of the even sample that is kept of a run."""

SHARE = 0.6
"""Of pairs of a later and an earlier episode, that must point one way. Mere chance: a half."""

SIGMAS = 2.58
"""Standard errors by which that share must stand out: chance alone does so once in 200 times."""

T = TypeVar("T")

Verdict = Literal["alarm", "quiet", "too_few", "no_model"]


@dataclass(frozen=True)
class Shift:
    """What the later half of a window has, against the earlier half.

    Attributes:
        before, after: Means of the halves, in their own unit; None of an empty half.
        higher: Share of pairs in which the later value is the higher one, ties counting half, in
            [0, 1]; None while a half has fewer than `LEAST` values.
        sigmas: Standard errors between that share and a half; None likewise.
    """

    before: float | None
    after: float | None
    n_before: int
    n_after: int
    higher: float | None = None
    sigmas: float | None = None

    @property
    def direction(self) -> int | None:
        """1 or -1 when it surely rose or fell, else 0; None of too few."""
        if self.higher is None or self.sigmas is None:
            return None
        if self.higher >= SHARE and self.sigmas >= SIGMAS:
            return 1
        return -1 if 1 - self.higher >= SHARE and -self.sigmas >= SIGMAS else 0


@dataclass(frozen=True)
class DriftPoint:
    """Episodes that began one after another while one model paid, and segments of that time.

    Attributes:
        paid, score: Means in their own unit; `score` is None where nothing was judged.
        paid_rank, score_rank: Means of the ranks in (0, 1) among all that the same model paid.
    """

    since_step: int
    env_step: int
    version: int
    episodes: int
    paid: float
    paid_rank: float
    judged: int
    score: float | None
    score_rank: float | None


@dataclass(frozen=True)
class Drift:
    """The verdict on the live model, and the curves of the run.

    Attributes:
        since, middle, until: Environment steps between which both halves lie; None of no episode.
        replaced: The model that paid before; None for none.
    """

    verdict: Verdict
    version: int | None
    replaced: int | None
    since: int | None
    middle: int | None
    until: int | None
    paid: Shift
    judges: Shift
    points: tuple[DriftPoint, ...]


@dataclass(frozen=True, order=True)
class _Value:
    """One episode's pay or score, and the step where it stands."""

    env_step: int
    value: float


def shift(before: Sequence[float], after: Sequence[float]) -> Shift:
    """Compare two halves by ranks (Mann and Whitney's statistic, corrected for ties)."""
    means = [fmean(half) if half else None for half in (before, after)]
    known = Shift(means[0], means[1], len(before), len(after))
    if min(len(before), len(after)) < LEAST:
        return known
    pairs, count = len(before) * len(after), len(before) + len(after)
    # Counted in halves of a pair, as sums of fractions differ between versions of Python.
    ranked = sorted(before)
    half_wins = sum(bisect_left(ranked, value) + bisect_right(ranked, value) for value in after)
    higher = half_wins / (2 * pairs)
    ties = _ties([*before, *after])
    error = math.sqrt(max(0.0, (count + 1 - ties / (count * (count - 1))) / (12 * pairs)))
    sigmas = (higher - 0.5) / error if error else 0.0
    return Shift(means[0], means[1], len(before), len(after), higher, sigmas)


def verdict_of(paid: Shift, judges: Shift) -> Verdict:
    """The rule: pay surely rose, and what judges think surely fell."""
    if None in (paid.direction, judges.direction):
        return "too_few"
    return "alarm" if (paid.direction, judges.direction) == (1, -1) else "quiet"


def drift_of(run: RunStory, scores: Sequence[Score], *, most: int) -> Drift:
    """Look at one run; `scores` in the order of their steps, curves in about `most` points."""
    episodes = run.between(0, run.step + 1)
    judged = _judged(scores)
    until = run.oldest_open
    points: list[DriftPoint] = []
    size = max(LEAST, math.ceil(len(episodes) / most))
    borders = [*(load.env_step for load in run.loads), run.step + 1]
    for index, load in enumerate(run.loads):
        if load.version is not None:
            first, end = borders[index], borders[index + 1]
            paid = _paid(_between(episodes, first, end, lambda each: each.began))
            own = _between(judged, first, end, lambda each: each.env_step)
            points += _points(load.version, paid, own, size)
    live = run.loads[-1] if run.loads else None
    if live is None or live.version is None or until is None:
        none = shift((), ())
        verdict: Verdict = "no_model" if live is None or live.version is None else "too_few"
        version = live.version if live else None
        return Drift(verdict, version, _before(run), None, None, None, none, none, tuple(points))
    window = _paid(_between(episodes, live.env_step, until, lambda each: each.began))
    since = window[-WINDOW].env_step if len(window) > WINDOW else live.env_step
    window = window[-WINDOW:]
    middle = window[len(window) // 2].env_step if window else None
    own = _between(judged, since, until, lambda each: each.env_step)
    sides = [_halves(side, middle) for side in (window, own)]
    paid_shift, judges = (shift(*halves) for halves in sides)
    return Drift(
        verdict=verdict_of(paid_shift, judges),
        version=live.version,
        replaced=_before(run),
        since=since,
        middle=middle,
        until=until,
        paid=paid_shift,
        judges=judges,
        points=tuple(points),
    )


def _before(run: RunStory) -> int | None:
    """The model that paid before the one that pays now."""
    return run.loads[-2].version if len(run.loads) > 1 else None


def _paid(episodes: Sequence[Episode]) -> list[_Value]:
    return [_Value(each.began, each.shaped) for each in episodes if each.shaped is not None]


def _judged(scores: Sequence[Score]) -> list[_Value]:
    """One value an episode, where its first segment stands; by the newest judges alone.

    Segments of one episode are no independent witnesses, and other judges have another scale.
    """
    newest = scores[-1].judge_config if scores else None
    groups: dict[str, list[Score]] = {}
    for score in scores:
        if score.judge_config == newest:
            groups.setdefault(score.episode_id, []).append(score)
    return sorted(
        _Value(group[0].env_step, fmean(score.weighted for score in group))
        for group in groups.values()
    )


def _points(
    version: int, paid: Sequence[_Value], judged: Sequence[_Value], size: int
) -> list[DriftPoint]:
    """Groups of `size` episodes; the last one may have up to twice as many, or be alone."""
    rank_paid = _ranker([each.value for each in paid])
    rank_score = _ranker([each.value for each in judged])
    starts = [index * size for index in range(max(1, len(paid) // size))] if paid else []
    found = []
    for number, start in enumerate(starts):
        is_last = number + 1 == len(starts)
        group = paid[start : None if is_last else start + size]
        first, last = group[0].env_step, group[-1].env_step
        end = last + 1 if is_last else paid[start + size].env_step
        own = [each.value for each in judged if first <= each.env_step < end]
        found.append(
            DriftPoint(
                since_step=first,
                env_step=last,
                version=version,
                episodes=len(group),
                paid=fmean(each.value for each in group),
                paid_rank=fmean(rank_paid(each.value) for each in group),
                judged=len(own),
                score=fmean(own) if own else None,
                score_rank=fmean(map(rank_score, own)) if own else None,
            )
        )
    return found


def _halves(values: Sequence[_Value], middle: int | None) -> tuple[list[float], list[float]]:
    if middle is None:
        return [], [each.value for each in values]
    return (
        [each.value for each in values if each.env_step < middle],
        [each.value for each in values if each.env_step >= middle],
    )


def _between(ordered: Sequence[T], first: int, end: int, step: Callable[[T], int]) -> list[T]:
    """What stands at or after `first` and before `end`."""
    start, stop = (bisect_left(ordered, border, key=step) for border in (first, end))
    return list(ordered[start:stop])


def _ranker(values: Sequence[float]) -> Callable[[float], float]:
    """Value → the share of `values` below it, those that equal it counting half."""
    ordered = sorted(values)
    return lambda value: (
        (bisect_left(ordered, value) + bisect_right(ordered, value)) / (2 * len(ordered))
    )


def _ties(values: Sequence[float]) -> int:
    """Sum of n³ - n over groups of n equal values."""
    ordered = sorted(values)
    total = start = 0
    while start < len(ordered):
        end = bisect_right(ordered, ordered[start])
        total += (end - start) ** 3 - (end - start)
        start = end
    return total
