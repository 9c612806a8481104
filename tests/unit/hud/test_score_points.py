from hypothesis import given
from hypothesis import strategies as st

from rlaif.hud.read_model.history.scores import (
    Scores,
    score_points,
    thin,
    thin_to_extremes,
)
from rlaif.hud.read_model.history.views import ScorePoint
from rlaif.testing.data.events import segment_captured, segment_scored


def score(step: int, weighted: float) -> ScorePoint:
    return ScorePoint(
        env_step=step,
        weighted=weighted,
        position=None,
        is_fair=True,
        episode_id="episode-1",
        segment_id=f"segment-{step}",
    )


def test_the_mean_is_of_each_segment_and_the_ones_before_it() -> None:
    view = score_points("run-1", [score(1, 0.5), score(3, 1.0)], 10)
    assert view.means == ((1, 0.5), (3, 0.75))
    assert view.scored == 2


def test_a_resumed_run_keeps_its_scores_when_others_are_dropped() -> None:
    scores = Scores(runs=2)
    for number, run_id in enumerate(("old", "other", "old", "new")):
        captured = segment_captured(f"segment-{number}")
        scores.captured(captured.model_copy(update={"run_id": run_id}))
        scored = segment_scored(f"segment-{number}", weighted=0.5)
        scores.scored(scored.model_copy(update={"run_id": run_id}))
    assert [len(scores.of(run_id)) for run_id in ("old", "other", "new")] == [2, 0, 1]


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=300), most=st.integers(3, 60))
def test_thinning_keeps_the_lowest_the_highest_and_the_newest_in_order(
    values: list[float], most: int
) -> None:
    scores = [score(step, value) for step, value in enumerate(values)]
    kept = thin_to_extremes(scores, most)
    assert len(kept) <= most
    assert kept[-1] == scores[-1]
    assert [each.env_step for each in kept] == sorted({each.env_step for each in kept})
    assert {min(values), max(values)} <= {each.weighted for each in kept}


def test_a_curve_that_grows_is_reported_by_its_new_points() -> None:
    points = [(step, float(step)) for step in range(2000)]
    again = 0
    for count in range(300, 1999):
        before, after = thin(points[:count], 300), thin(points[: count + 1], 300)
        assert len(after) <= 301
        assert after[-1] == points[count]
        again += before[:-1] != after[: len(before) - 1]
    assert again == 3, "at 301, 601 and 1,201 points every second one goes"
