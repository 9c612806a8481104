"""Scored segments over the environment steps of their run, for the chart that opens them."""

from collections.abc import Sequence
from statistics import fmean

from rlaif.hud.read_model.history.scores import Score
from rlaif.hud.read_model.views import ScorePoint, ScorePointsView

Point = tuple[int, float]

WINDOW = 20
"""Segments that a mean is over."""


def score_points(run_id: str | None, scores: Sequence[Score], most: int) -> ScorePointsView:
    """The scores of one run, in the order of their steps, and their moving mean.

    At most `most` of each.
    """
    means = trailing_means([(score.env_step, score.weighted) for score in scores], WINDOW)
    return ScorePointsView(
        run_id=run_id,
        scored=len(scores),
        window=WINDOW,
        means=tuple(thin(means, most)),
        points=tuple(
            ScorePoint(
                env_step=score.env_step,
                weighted=score.weighted,
                episode_id=score.episode_id,
                segment_id=score.segment_id,
            )
            for score in thin_to_extremes(scores, most)
        ),
    )


def thin_to_extremes(scores: Sequence[Score], most: int) -> list[Score]:
    """At most `most` of them: of each stretch the lowest and the highest, and the newest of all.

    An even choice would hide the very segments that somebody looks for.
    """
    if len(scores) <= most:
        return list(scores)
    older, newest = scores[:-1], scores[-1]
    stretches = max(1, (most - 1) // 2)
    kept: list[Score] = []
    for number in range(stretches):
        first, end = (len(older) * each // stretches for each in (number, number + 1))
        by_score = sorted(range(first, end), key=lambda index: older[index].weighted)
        kept += [older[index] for index in sorted({by_score[0], by_score[-1]})]
    return [*kept, newest]


def thin(points: list[Point], most: int) -> list[Point]:
    """At most `most` points, evenly picked, and the newest one.

    Those that were picked stay as points are added, until every second of them goes: a page is told
    of the new ones alone.
    """
    stride = 1
    while len(points) > stride * most:
        stride *= 2
    picked = points[::stride]
    return picked if (len(points) - 1) % stride == 0 else [*picked, points[-1]]


def trailing_means(points: list[Point], window: int) -> list[Point]:
    """The mean of each value and up to `window - 1` values before it."""
    values = [value for _, value in points]
    return [
        (step, fmean(values[max(0, index + 1 - window) : index + 1]))
        for index, (step, _) in enumerate(points)
    ]
