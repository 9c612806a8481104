from itertools import pairwise

import pytest

from rlaif.hud.series import Series, thin, trailing_means


def test_thinning_keeps_the_newest_point_and_few_others() -> None:
    points = [(step, float(step)) for step in range(1000)]
    kept = thin(points, 100)
    assert len(kept) <= 100
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)


def test_a_short_curve_is_not_thinned() -> None:
    points = [(1, 1.0), (2, 2.0)]
    assert thin(points, 2) == points


def test_a_trailing_mean_starts_with_what_there_is() -> None:
    assert trailing_means([(1, 1.0), (2, 0.0), (3, 0.5)], 2) == [(1, 1.0), (2, 0.5), (3, 0.25)]


def test_a_long_run_costs_as_much_as_a_short_one() -> None:
    series = Series(most_points=50)
    for step in range(10_000):
        series.progress("run", step, 1.0, None, None)
    curve = series.view("run").episode_return
    assert len(curve) <= 50
    assert curve[-1][0] == 9999
    assert curve[0][0] < 400
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(curve[:-1])]
    assert max(gaps) <= 2 * min(gaps), "the curve is not evenly spaced"


def test_a_new_run_starts_the_curves_again() -> None:
    series = Series()
    series.progress("run-1", 5, 1.0, 3, 4)
    series.progress("run-2", 1, 2.0, None, None)
    assert series.view("run-2").episode_return == ((1, 2.0),)
    assert series.view("run-2").versions == ()


def test_a_run_that_resumed_from_a_checkpoint_goes_on_from_there() -> None:
    series = Series()
    for step in (10, 20, 30, 15):
        series.progress("run", step, float(step), None, None)
    assert series.view("run").episode_return == ((10, 10.0), (15, 15.0))


def test_scores_are_ordered_by_step_and_those_without_a_number_left_out() -> None:
    series = Series(score_window=1)
    for segment, step, weighted in (("b", 20, 0.4), ("a", 10, 0.2), ("c", 30, None)):
        series.scored(segment, "run", weighted)
        series.captured(segment, "run", step)
    view = series.view("run")
    assert view.score_mean == ((10, 0.2), (20, 0.4))
    assert view.scores == 2


def test_a_score_whose_step_is_not_known_has_no_point() -> None:
    series = Series()
    series.scored("a", "run", 0.5)
    assert series.view("run").score_mean == ()


def test_the_scores_of_another_run_are_not_mixed_in() -> None:
    series = Series()
    series.captured("a", "run-1", 1)
    series.scored("a", "run-1", 0.5)
    assert series.view("run-2").score_mean == ()


@pytest.mark.parametrize("scored", [True, False])
def test_memory_is_bounded(scored: bool) -> None:
    series = Series(keep_scores=100)
    for number in range(5000):
        series.captured(f"s{number}", "run", number)
        if scored:
            series.scored(f"s{number}", "run", 0.5)
    assert len(series._scores) <= 200
