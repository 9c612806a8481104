"""The history of a run: points, comparisons, and the headline."""

import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import EventData, RunIterated
from rlaif.hud.read_model.history.comparison import MIN_EPISODES, difference
from rlaif.hud.read_model.history.history import MAX_RUNS, History
from rlaif.hud.read_model.history.run_story import (
    MAX_COHORT,
    MAX_POINTS,
)
from rlaif.hud.read_model.history.views import HeadlineView
from rlaif.testing.data.events import (
    NOON,
    champion_changed,
    run_evaluated,
    run_iterated,
    run_loaded,
    run_started,
    segment_captured,
    segment_scored,
)
from rlaif.testing.page.figures import contradictions

STEP = 1000


def folded(*events: EventData, into: History | None = None) -> History:
    history = into or History()
    for event in events:
        history.apply(envelop(event, source="rlaif/test", time=NOON))
    return history


def pieces(since: int, until: int, gained: Sequence[int], *, attempt: int = 0) -> list[RunIterated]:
    """Iterations of `STEP` steps, each with these episodes."""
    return [
        run_iterated(step, step + STEP, gained=gained, attempt=attempt)
        for step in range(since, until, STEP)
    ]


def judge(
    history: History,
    episode: str,
    segment: str,
    step: int,
    *,
    weighted: float,
    position: float | None = None,
    captured_last: bool = False,
    **capture: Any,
) -> None:
    """A segment is captured, by default as a uniform sample from power-on, and scored."""
    fair = {"selected_by": "uniform", "from_own_start": True}
    names = {"episode_id": episode, "env_step": step}
    captured = segment_captured(segment).model_copy(update={**names, **fair, **capture})
    scored = segment_scored(segment, weighted=weighted).model_copy(
        update={"episode_id": episode, "position": position}
    )
    folds = [
        lambda: history.scores.captured(captured),
        lambda: history.scores.scored(scored),
    ]
    for fold in reversed(folds) if captured_last else folds:
        fold()


def headline(
    history: History, live: int | None = None, *, pinned: bool | None = None
) -> HeadlineView:
    return history.headline("run-1", live_version=live, pinned=pinned, known=True)


def milestones(history: History, *, newest: int = 20) -> list[tuple[object, ...]]:
    """(version, mean before, mean after, episodes of each side) of each load."""
    return [
        (load.version, found.before, found.after, found.n_before, found.n_after)
        for load in history.loads("run-1", newest=newest)().loads
        for found in [load.figures["milestones"]]
    ]


# --- what is kept ---------------------------------------------------------------------------------


def test_a_repeated_report_counts_once() -> None:
    events = [run_started(), *pieces(0, 5 * STEP, [1]), run_loaded(1, 5 * STEP)]
    once, twice = folded(*events), folded(*events, *events)
    assert twice.view("run-1", points=100) == once.view("run-1", points=100)


def test_a_resumed_run_forgets_what_followed_its_checkpoint() -> None:
    history = folded(
        run_started(),
        *pieces(0, 10 * STEP, [1]),
        run_loaded(1, 4 * STEP),
        run_loaded(2, 8 * STEP),
        run_started(6 * STEP, attempt=1),
        *pieces(6 * STEP, 9 * STEP, [3], attempt=1),
    )
    view = history.view("run-1", points=100)
    assert [point.env_step for point in view.points] == [STEP * n for n in range(1, 10)]
    assert [point.milestones_mean for point in view.points] == [1.0] * 6 + [3.0] * 3
    assert [(load.version, load.step) for load in view.loads] == [(1, 4 * STEP)]
    assert [(start.attempt, start.step) for start in view.starts] == [(0, 0), (1, 6 * STEP)]


def test_a_process_that_died_reports_nothing_after_the_next_one_began() -> None:
    late = run_iterated(6 * STEP, 7 * STEP, gained=[5], attempt=0)
    history = folded(run_started(), run_started(0, attempt=1), late)
    assert history.view("run-1", points=10).points == ()


def test_a_model_reported_again_after_a_restart_was_not_loaded_again() -> None:
    history = folded(
        run_started(),
        run_loaded(1, STEP),
        *pieces(STEP, 3 * STEP, [1]),
        run_started(3 * STEP, attempt=1),
        run_loaded(1, 3 * STEP, attempt=1),
        run_loaded(None, 4 * STEP, attempt=1),
        run_loaded(1, 5 * STEP, attempt=1),
    )
    loads = history.view("run-1", points=10).loads
    assert [(load.version, load.step) for load in loads] == [
        (1, STEP), (None, 4 * STEP), (1, 5 * STEP),
    ]  # fmt: skip


def test_a_run_of_any_length_takes_bounded_room_and_keeps_its_sums() -> None:
    history = folded(run_started())
    count = 5 * MAX_POINTS
    for piece in pieces(0, count * STEP, [2]):
        folded(piece, into=history)
    view = history.view("run-1", points=1000)
    run = history.run("run-1")
    assert run is not None
    assert len(run.points) <= 2 * MAX_POINTS
    assert len(view.points) <= 1000
    assert sum(point.iterations for point in view.points) == count
    assert sum(point.episodes for point in view.points) == count
    assert sum(point.paid["rooms"] for point in view.points) == 4.0 * count
    assert {point.milestones_mean for point in view.points} == {2.0}


def test_no_chunk_spans_a_model_load() -> None:
    history = folded(run_started(), *pieces(0, 333 * STEP, [1]), run_loaded(1, 333 * STEP))
    folded(*pieces(333 * STEP, 5000 * STEP, [2]), into=history)
    run = history.run("run-1")
    assert run is not None
    assert 333 * STEP in [piece.since_step for piece in run.points]


def test_as_many_runs_are_kept_as_can_be_compared() -> None:
    history = History()
    for number in range(MAX_RUNS + 5):
        folded(run_started(run_id=f"run-{number}"), into=history)
    names = [run.run_id for run in reversed(history.runs())]
    assert names == [f"run-{number}" for number in range(5, MAX_RUNS + 5)]


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [2, 7, 40, 500])
def test_fewer_points_have_the_same_sums_and_keep_the_extremes(points: int) -> None:
    draw = Random(3)
    events = [
        run_iterated(
            step, step + STEP, gained=[draw.randrange(5)], entropy=draw.random(),
            paid={"rooms": draw.random(), "shaping": -draw.random()}, learned_from=0.5,
        )
        for step in range(0, 100 * STEP, STEP)
    ]  # fmt: skip
    history = folded(run_started(), *events)
    view = history.view("run-1", points=points)
    assert len(view.points) <= points
    assert view.points[0].since_step == 0
    assert view.points[-1].env_step == 100 * STEP
    for name in ("rooms", "shaping"):
        told = sum(event.paid[name] for event in events)
        assert sum(point.paid[name] for point in view.points) == pytest.approx(told)
    assert max(point.high["entropy"] for point in view.points) == max(
        event.entropy or 0.0 for event in events
    )
    for point in view.points:
        assert point.paid_total == pytest.approx(sum(point.paid.values()))
        assert point.learned_from is not None
        assert point.unexplained == pytest.approx(point.learned_from - point.paid_total)


def test_what_was_not_measured_is_not_known() -> None:
    piece = run_iterated(0, STEP, entropy=None, policy_lag=None, learned_from=None)
    (point,) = folded(piece).view("run-1", points=10).points
    unknown = (point.milestones_mean, point.entropy, point.learned_from, point.unexplained)
    assert unknown == (None, None, None, None)
    assert point.episodes == 0


# --- before and after -----------------------------------------------------------------------------


def two_loads(after: Sequence[int] = (2,)) -> History:
    return folded(
        run_started(),
        *pieces(0, 30 * STEP, [1]),
        run_loaded(1, 30 * STEP),
        *pieces(30 * STEP, 60 * STEP, after),
        run_loaded(2, 60 * STEP),
        *pieces(60 * STEP, 90 * STEP, [3, 4]),
    )


def test_each_load_is_compared_with_the_episodes_that_began_before_it() -> None:
    assert milestones(two_loads()) == [(2, 2.0, 3.5, 30, 60), (1, 1.0, 2.0, 30, 30)]
    newest = two_loads().loads("run-1", newest=1)()
    assert ([load.version for load in newest.loads], newest.known) == ([2], 2)


def test_an_episode_belongs_to_the_model_that_paid_when_it_began() -> None:
    """One that ended after a load was played by what came before it, for the most part."""
    late = run_iterated(30 * STEP, 31 * STEP, gained=[9], began=[29 * STEP])
    history = folded(
        run_started(), *pieces(0, 30 * STEP, [1]), run_loaded(1, 30 * STEP), late,
        *pieces(31 * STEP, 60 * STEP, [2]),
    )  # fmt: skip
    ((_, before, after, n_before, n_after),) = milestones(history)
    assert (after, n_before, n_after) == (2.0, 31, 29)
    assert before == pytest.approx((30 + 9) / 31)


def test_short_episodes_do_not_speak_for_those_that_still_run() -> None:
    """What began with one that still runs does not count yet, or early deaths would."""
    history = folded(
        run_started(),
        *pieces(0, 30 * STEP, [1]),
        run_loaded(1, 30 * STEP),
        *(
            run_iterated(step, step + STEP, gained=[0], oldest_open=40 * STEP)
            for step in range(30 * STEP, 60 * STEP, STEP)
        ),
    )
    (load,) = history.loads("run-1", newest=1)().loads
    assert load.figures["milestones"].n_after == 10
    assert load.unfinished == 20
    assert not load.enough
    assert load.figures["milestones"].change is None, "too few episodes is no number"


def test_until_it_is_known_what_still_runs_nothing_is_compared() -> None:
    history = two_loads()
    folded(run_iterated(90 * STEP, 91 * STEP, oldest_open=None), into=history)
    assert [row[3:] for row in milestones(history)] == [(0, 0), (0, 0)]


def test_at_most_the_newest_episodes_of_a_side_are_compared() -> None:
    history = folded(
        run_started(),
        *pieces(0, 50 * STEP, [0] * 20),
        *pieces(50 * STEP, 60 * STEP, [3] * 20),
        run_loaded(1, 60 * STEP),
        *pieces(60 * STEP, 90 * STEP, [1] * 20),
    )
    assert milestones(history) == [(1, 3.0, 1.0, MAX_COHORT, MAX_COHORT)]


def test_episodes_with_an_unknown_start_are_excluded() -> None:
    history = two_loads()
    unknown = run_iterated(90 * STEP, 91 * STEP, gained=[9] * 50, began=[None] * 50)
    folded(unknown, into=history)
    assert milestones(history)[0] == (2, 2.0, 3.5, 30, 60)


def test_all_figures_of_a_load_are_compared_the_judges_too() -> None:
    history = two_loads()
    for number in range(80):
        step = 10 * STEP + number * STEP // 2
        name = f"segment-{number}"
        value = 0.25 if step < 30_000 else 0.75
        judge(history, f"episode-{number}", name, step, weighted=value, captured_last=True)
    first = history.loads("run-1", newest=2)().loads[-1]
    assert set(first.figures) == {
        "milestones", "rooms", "deaths", "episode_return", "shaped_return", "judge_score",
    }  # fmt: skip
    score = first.figures["judge_score"]
    assert (score.before, score.after, score.n_before, score.n_after) == (0.25, 0.75, 40, 40)
    assert (score.low, score.change, score.high) == (0.5, 0.5, 0.5)
    assert first.figures["deaths"].after == 0.0


def test_segments_of_one_episode_are_one_witness() -> None:
    history = two_loads()
    for number in range(60):
        judge(history, "episode-1", f"segment-{number}", 40 * STEP, weighted=0.5)
    first = history.loads("run-1", newest=2)().loads[-1]
    assert first.figures["judge_score"].n_after == 1


# --- intervals ------------------------------------------------------------------------------------


def test_the_same_groups_give_the_same_interval() -> None:
    draw = Random(2)
    before = tuple(float(draw.random() < 0.5) for _ in range(40))
    after = tuple(1 + each for each in before)
    found = difference(before, after)
    assert difference(before, after) == found
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 1.0 < found.high < 2.0
    assert found.direction == 1
    assert difference(after, before).direction == -1
    assert difference(before, before).direction == 0


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draw = Random(11)
    hits = 0
    for _ in range(100):
        before = tuple(draw.gauss(0.0, 1.0) for _ in range(30))
        after = tuple(draw.gauss(0.5, 1.0) for _ in range(30))
        found = difference(before, after)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.5 <= found.high
    assert 88 <= hits <= 99


def test_episodes_that_drift_together_make_the_interval_wider() -> None:
    draw = Random(3)

    def drifting() -> tuple[float, ...]:
        levels = (draw.gauss(0.0, 1.0) for _ in range(16))
        return tuple(level + draw.gauss(0.0, 1.0) for level in levels for _ in range(6))

    found = [difference(drifting(), drifting()) for _ in range(100)]
    assert sum(each.low <= 0 <= each.high for each in found) >= 85  # type: ignore[operator]


@pytest.mark.parametrize(
    ("before", "after"), [(MIN_EPISODES - 1, 100), (100, MIN_EPISODES - 1), (0, 0)]
)
def test_of_few_episodes_no_difference_is_claimed(before: int, after: int) -> None:
    found = difference((1.0,) * before, (2.0,) * after)
    assert (found.change, found.low, found.high, found.direction) == (None,) * 4
    assert (found.n_before, found.n_after) == (before, after)


def test_groups_that_grow_leave_little_behind() -> None:
    tracemalloc.start()
    try:
        for size in range(MIN_EPISODES, MAX_COHORT + 1, 2):
            difference((1.0,) * size, (2.0,) * size)
        left_behind, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert left_behind < 2_500_000


# --- the sentence ---------------------------------------------------------------------------------


def placed(history: History, *, before: float, after: float, **capture: Any) -> History:
    """The judges place the player of sixty episodes, half of them before the first model."""
    at = 30 * STEP
    for number in range(60):
        step = at + (number - 30) * STEP
        where = (before if step < at else after) + 0.01 * (number % 3)
        judge(history, f"e-{number}", f"s-{number}", step, weighted=0.5, position=where, **capture)
    return history


def test_the_headline_says_what_moved_since_the_first_model_and_what_the_judges_say() -> None:
    history = placed(two_loads(), before=1.4, after=2.3)
    view = headline(history, 7, pinned=True)
    assert view.text == (
        "Milestones per episode rose from 1.00 to 3.00 since reward model v1 was loaded (30 and 90 "
        f"episodes; change +{view.milestones.low:.2f} to +{view.milestones.high:.2f}, 95 %); "  # type: ignore[union-attr]
        "judges place the player at 1.4 → 2.3 objectives; v7 is live, pinned."
    )
    assert (view.since, view.since_version, view.since_step) == ("load", 1, 30 * STEP)
    assert (view.live_version, view.pinned) == (7, True)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (1.4, 2.3, "judges place the player at 1.4 → 2.3 objectives"),
        (2.3, 1.4, "judges place the player at 2.3 → 1.4 objectives"),
        (1.4, 1.4, "judges place the player at 1.4 → 1.4 objectives, no clear change"),
    ],
)
def test_the_judges_are_quoted_whatever_they_say(before: float, after: float, words: str) -> None:
    view = headline(placed(two_loads(), before=before, after=after), 2)
    assert f"; {words}; v2 is live." in view.text


@pytest.mark.parametrize(
    "capture",
    [{"selected_by": "milestone"}, {"from_own_start": False}, {"from_own_start": None}],
    ids=["chosen", "of a search or demonstration", "unknown start"],
)
def test_positions_in_segments_that_are_no_uniform_sample_are_not_compared(
    capture: dict[str, Any],
) -> None:
    history = placed(two_loads(), before=1.4, after=2.3, **capture)
    view = headline(history, 2)
    assert view.positions is not None
    assert (view.positions.n_before, view.positions.n_after) == (0, 0)
    assert "too few uniform samples to compare the judged positions (0 of 20 episodes)" in view.text
    assert history.loads("run-1", newest=2)().loads[-1].figures["judge_score"].n_after == 0


@pytest.mark.parametrize(
    ("loaded", "end", "before", "after", "said"),
    [
        (30, 60, [0, 3], [3, 0], "did not change clearly: 1.50 → 1.50 since reward model v1 was "),
        (4, 44, [1], [4], "3.45 → 4.00 since its first episodes (22 and 22 episodes;"),
    ],
    ids=["the change may be chance", "too few episodes began before the first model"],
)
def test_the_sentence_says_what_is_compared(
    loaded: int, end: int, before: list[int], after: list[int], said: str
) -> None:
    history = folded(
        run_started(),
        *pieces(0, loaded * STEP, before),
        run_loaded(1, loaded * STEP),
        *pieces(loaded * STEP, end * STEP, after),
    )
    assert said in headline(history).text


def test_too_few_episodes_are_said_to_be_too_few() -> None:
    history = folded(
        run_started(),
        *pieces(0, 30 * STEP, [1]),
        run_loaded(1, 30 * STEP),
        *pieces(30 * STEP, 33 * STEP, [4]),
    )
    assert headline(history, 1).text == (
        "Milestones per episode 4.00 (3 episodes); too early to compare with those before reward "
        "model v1 was loaded: 3 of 20 episodes; v1 is live."
    )


def test_while_more_episodes_may_come_that_began_before_the_first_model_they_are_waited_for() -> (
    None
):
    history = folded(
        run_started(),
        *pieces(0, 4 * STEP, [1]),
        run_loaded(1, 4 * STEP),
        run_iterated(4 * STEP, 5 * STEP, gained=[4], oldest_open=3 * STEP),
    )
    assert headline(history).since == "load"


def test_each_number_of_the_sentence_names_the_field_that_it_is() -> None:
    view = headline(placed(two_loads(), before=1.4, after=2.3), 7)
    told = {"headline": view.model_dump(mode="json")}
    figures = [(part.figure, part.text) for part in view.parts if part.figure]
    assert len(figures) == 11
    assert contradictions(figures, told) == []
    assert not any(digit.isdigit() for part in view.parts if not part.figure for digit in part.text)


def test_a_run_without_a_model_is_compared_with_its_first_episodes() -> None:
    history = folded(
        run_started(), *pieces(0, 100 * STEP, [1]), *pieces(100 * STEP, 250 * STEP, [2])
    )
    view = headline(history)
    assert view.text.startswith(
        "Milestones per episode rose from 1.00 to 2.00 since its first episodes ("
    )
    assert view.text.endswith("; no reward model is live.")
    assert (view.since, view.since_version) == ("start", None)


def test_before_anything_is_known_nothing_is_claimed() -> None:
    view = History().headline(None, live_version=None, pinned=None, known=False)
    assert view.text == "No episodes have been reported yet."
    assert (view.milestones, view.positions, view.runs) == (None, None, None)


def test_runs_with_and_without_judges_stand_side_by_side_at_the_same_step() -> None:
    history = folded(
        run_started(run_id="run-0", judged=False),
        *(piece.model_copy(update={"run_id": "run-0"}) for piece in pieces(0, 80 * STEP, [1])),
        run_started(),
        *pieces(0, 40 * STEP, [2]),
        *pieces(40 * STEP, 120 * STEP, [3]),
    )
    runs = headline(history).runs
    assert runs is not None
    assert (runs.after_run, runs.before_run, runs.until_step) == ("run-1", "run-0", 80 * STEP)
    assert (runs.milestones.before, runs.milestones.after) == (1.0, 3.0)
    assert (runs.milestones.n_before, runs.milestones.n_after) == (20, 20)


@pytest.mark.parametrize("changes", [{"recipe": "another"}, {"judged": True}, {"recipe": None}])
def test_runs_that_differ_in_more_than_the_judges_are_not_compared(changes: dict[str, Any]) -> None:
    values: dict[str, Any] = {"run_id": "run-0", "judged": False, **changes}
    history = folded(
        run_started(**values),
        *(piece.model_copy(update={"run_id": "run-0"}) for piece in pieces(0, 80 * STEP, [1])),
        run_started(),
        *pieces(0, 80 * STEP, [2]),
    )
    assert headline(history).runs is None


# --- evaluations ----------------------------------------------------------------------------------


def evaluated(history: History) -> list[tuple[int, str, float]]:
    view = history.view("run-1", points=2)
    return [(each.env_step, each.player, each.milestones) for each in view.evaluations]


def test_evaluations_are_kept_once_and_those_after_a_resumed_checkpoint_are_dropped() -> None:
    first = run_evaluated(30 * STEP, 1.0)
    chance = run_evaluated(30 * STEP, 0.5, player="random")
    history = folded(run_started(), chance, first, first, run_evaluated(60 * STEP, 2.0, attempt=0))
    kept = [(30 * STEP, "random", 0.5), (30 * STEP, "trained", 1.0)]
    assert evaluated(history) == [*kept, (60 * STEP, "trained", 2.0)]
    folded(run_started(40 * STEP, attempt=1), into=history)
    assert evaluated(history) == kept
    folded(run_evaluated(60 * STEP, 3.0, attempt=0), into=history)
    assert evaluated(history) == kept, "of an attempt that was left"


def test_the_evaluations_of_the_run_without_judges_stand_beside() -> None:
    control: dict[str, Any] = {"run_id": "run-0"}
    history = folded(
        run_started(judged=False, **control),
        pieces(0, STEP, [1])[0].model_copy(update=control),
        run_evaluated(30 * STEP, 1.5, **control),
        run_started(),
        *pieces(0, STEP, [1]),
        run_evaluated(30 * STEP, 2.5),
    )
    view = history.view("run-1", points=2)
    assert [each.milestones for each in view.evaluations] == [2.5]
    assert [(each.run_id, each.milestones) for each in view.control] == [("run-0", 1.5)]


# --- the champion ---------------------------------------------------------------------------------


def test_changes_are_kept_and_a_start_that_reports_nothing_new_is_none() -> None:
    gate = champion_changed(1)
    pin = champion_changed(1, why="person", pinned=True, pin_reason="by hand",
                           changed_at=NOON + timedelta(seconds=1))  # fmt: skip
    start = pin.model_copy(update={"why": "start", "changed_at": NOON + timedelta(seconds=2)})
    history = folded(gate, pin, start, pin)
    changes = history.view(None, points=2).changes
    assert [(each.version, each.why, each.pinned) for each in changes] == [
        (1, "gate", False), (1, "person", True),
    ]  # fmt: skip
