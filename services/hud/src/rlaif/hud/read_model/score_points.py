"""Scored segments over the environment steps of their run, for the chart that opens them."""

from collections.abc import Sequence

from rlaif.hud.read_model.history.scores import Score
from rlaif.hud.read_model.series import thin, trailing_means
from rlaif.hud.read_model.views import ScorePoint, ScorePointsView

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
