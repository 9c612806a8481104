"""Whether the live reward model pays more for what judges think less of: the rule and its curve."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import EventData
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.hud.read_model.history.bootstrap import LEAST
from rlaif.hud.read_model.history.drift import SHARE, SIGMAS, Shift, shift, verdict_of
from rlaif.hud.read_model.history.history import History
from rlaif.hud.read_model.history.views import DriftView
from rlaif.testing.data.events import NOON, run_iterated, run_loaded, run_started

STEP = 1000
LOAD = 10 * STEP

EPISODES = st.lists(st.integers(-6, 6), min_size=0, max_size=60)
MONOTONE: dict[str, Callable[[float], float]] = {
    "ten times as much": lambda value: 10 * value,
    "less of all": lambda value: value - 1000,
    "cubed": lambda value: value**3,
    "squeezed": lambda value: value / (10 + abs(value)),
}


# --- the rule -------------------------------------------------------------------------------------


def test_pay_that_rises_while_judges_fall_is_an_alarm_and_nothing_else_is() -> None:
    rising, falling = shift([0.0] * 40, [1.0] * 40), shift([1.0] * 40, [0.0] * 40)
    level = shift([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    for paid in (rising, falling, level):
        for judges in (rising, falling, level):
            is_alarm = paid is rising and judges is falling
            assert verdict_of(paid, judges) == ("alarm" if is_alarm else "quiet")


@given(before=EPISODES, after=EPISODES, other=EPISODES, another=EPISODES)
@pytest.mark.parametrize("name", MONOTONE)
def test_the_verdict_does_not_hang_on_the_scale_of_either_curve(
    name: str, before: list[int], after: list[int], other: list[int], another: list[int]
) -> None:
    scaled = MONOTONE[name]
    paid, judges = shift(before, after), shift(other, another)
    verdict = verdict_of(paid, judges)
    assert verdict_of(shift([*map(scaled, before)], [*map(scaled, after)]), judges) == verdict
    assert verdict_of(paid, shift([*map(scaled, other)], [*map(scaled, another)])) == verdict


@given(few=st.integers(0, LEAST - 1), many=st.integers(0, 200), flipped=st.booleans())
def test_too_few_never_alarm_however_clear_they_are(few: int, many: int, flipped: bool) -> None:
    sizes = (many, few) if flipped else (few, many)
    found = shift([1.0] * sizes[0], [0.0] * sizes[1])
    clear = shift([0.0] * 200, [1.0] * 200)
    assert (found.higher, found.direction) == (None, None)
    assert verdict_of(clear, found) == verdict_of(found, clear) == "too_few"


@given(values=EPISODES)
def test_the_halves_turned_around_say_the_opposite(values: list[int]) -> None:
    one, other = values[::2], [value + 1 for value in values[1::2]]
    found, turned = shift(one, other), shift(other, one)
    if found.higher is None or turned.higher is None:
        return
    assert found.higher == pytest.approx(1 - turned.higher)
    assert found.direction == -(turned.direction or 0)


def test_a_share_that_is_small_or_may_be_chance_is_neither_a_rise_nor_a_fall() -> None:
    cases = ((14, 6, 0), (110, 90, 0), (119, 81, 0), (120, 80, -1), (140, 60, -1))
    for high, low, direction in cases:
        one, other = [1.0] * high + [0.0] * low, [1.0] * low + [0.0] * high
        assert shift(one, other).direction == direction, (high, low)
        assert shift(other, one).direction == -direction, (high, low)


def test_equal_values_make_the_standard_error_smaller() -> None:
    """Of 20 ones among 40 values 6 lie in the later half: a hypergeometric draw, 4 below its 10."""
    found = shift([1.0] * 14 + [0.0] * 6, [1.0] * 6 + [0.0] * 14)
    assert found.sigmas == pytest.approx(-4 / (20 * 0.5 * 0.5 * 20 / 39) ** 0.5)


def test_chance_alone_raises_no_alarm() -> None:
    draw = Random(11)
    sides = [[draw.random() for _ in range(LEAST)] for _ in range(2 * 2000)]
    shifts = [shift(before, after) for before, after in zip(sides[::2], sides[1::2], strict=True)]
    assert sum(found.direction == 1 for found in shifts) <= 0.01 * len(shifts)
    assert sum(found.direction == -1 for found in shifts) <= 0.01 * len(shifts)


def test_equal_values_are_neither_higher_nor_lower() -> None:
    assert shift([0.5] * 30, [0.5] * 30) == Shift(0.5, 0.5, 30, 30, 0.5, 0.0)


# --- a run ----------------------------------------------------------------------------------------


def played(
    *, pay: Callable[[int], float | None], loads: Sequence[tuple[int | None, int]]
) -> History:
    """A run of 100 iterations with four episodes each; `pay` is by iteration."""
    history = History()
    events: list[EventData] = [run_started()]
    for number in range(100):
        since = number * STEP
        events += [run_loaded(version, step) for version, step in loads if step == since]
        rows = EndedEpisodes(
            count=4, began=(since,) * 4, gained=(0,) * 4, rooms=(1,) * 4, returns=(0.0,) * 4,
            shaped=(pay(number),) * 4, lengths=(9,) * 4, died=(None,) * 4,
        )  # fmt: skip
        events.append(run_iterated(since, since + STEP, episodes=rows))
    for event in events:
        history.apply(envelop(event, source="rlaif/test", time=NOON))
    return history


def scored(history: History, give: Callable[[int], float], *, judges: str = "config-1") -> None:
    """Judges score two segments of one episode in each iteration."""
    for number in range(100):
        for segment in range(2):
            name = f"segment-{number}-{segment}"
            history.scores.captured("run-1", f"episode-{number}", name, number * STEP + segment)
            history.scores.scored("run-1", f"episode-{number}", name, give(number), judges)


def gamed(*, loads: Sequence[tuple[int | None, int]] = ((1, LOAD),)) -> History:
    return played(pay=lambda number: 0.1 * number, loads=loads)


def look(history: History) -> DriftView:
    return history.drift("run-1")


def test_a_model_that_is_gamed_raises_the_alarm_with_both_amounts_and_their_n() -> None:
    history = gamed()
    scored(history, lambda number: 1 - number / 100)
    found = look(history)
    assert (found.verdict, found.version, found.replaced) == ("alarm", 1, None)
    assert (found.since_step, found.middle_step, found.until_step) == (LOAD, 55 * STEP, 100 * STEP)
    assert (found.paid.n_before, found.paid.n_after) == (180, 180)
    assert found.paid.before == pytest.approx(3.2)
    assert found.paid.after == pytest.approx(7.7)
    assert (found.judges.n_before, found.judges.n_after) == (45, 45), "episodes, not segments"
    assert (found.paid.higher, found.judges.higher) == (1.0, 0.0)
    assert (found.share, found.least_sigmas, found.least) == (SHARE, SIGMAS, LEAST)


def test_judges_who_think_more_of_it_too_raise_none() -> None:
    history = gamed()
    scored(history, lambda number: number / 100)
    assert look(history).verdict == "quiet"


def test_another_model_starts_the_window_again() -> None:
    history = gamed(loads=[(1, LOAD), (2, 97 * STEP)])
    scored(history, lambda number: 1 - number / 100)
    found = look(history)
    assert (found.verdict, found.version, found.replaced) == ("too_few", 2, 1)
    assert found.since_step == 97 * STEP


def test_without_a_model_nothing_is_paid_and_nothing_claimed() -> None:
    for loads in ([], [(1, LOAD), (None, 20 * STEP)]):
        history = gamed(loads=loads)
        scored(history, lambda number: 1 - number / 100)
        assert look(history).verdict == "no_model"
    assert History().drift(None).verdict == "no_model"


def test_stricter_judges_are_not_held_against_those_before_them() -> None:
    history = gamed()
    scored(history, lambda number: 0.9)
    for number in range(60, 100):
        for segment in range(2):
            name = f"segment-{number}-{segment}"
            history.scores.scored("run-1", f"episode-{number}", name, 0.2, "config-2")
    assert look(history).verdict == "too_few"


def test_what_a_model_paid_is_unknown_where_nobody_told() -> None:
    history = played(pay=lambda number: None, loads=[(1, LOAD)])
    scored(history, lambda number: 1 - number / 100)
    found = look(history)
    assert (found.verdict, found.paid.n_after, found.points) == ("too_few", 0, ())


# --- the curve ------------------------------------------------------------------------------------


def test_each_model_has_ranks_of_its_own() -> None:
    history = played(
        pay=lambda number: number + (1000 if number >= 50 else 0), loads=[(1, LOAD), (2, 50 * STEP)]
    )
    scored(history, lambda number: 0.5)
    points = look(history).points
    assert [point.version for point in points] == sorted(point.version for point in points)
    for version in (1, 2):
        own = [point for point in points if point.version == version]
        ranks = [point.paid_rank for point in own]
        assert ranks == sorted(ranks)
        weights = [point.episodes for point in own]
        mean = sum(rank * n for rank, n in zip(ranks, weights, strict=True)) / sum(weights)
        assert mean == pytest.approx(0.5), "all of one model rank a half in the mean"
    assert {point.score for point in points} == {0.5}
    assert {point.score_rank for point in points} == {0.5}


def test_no_point_is_of_two_models_and_each_episode_stands_in_one() -> None:
    history = gamed(loads=[(1, LOAD), (2, 43 * STEP), (None, 60 * STEP), (3, 80 * STEP)])
    points = look(history).points
    for point in points:
        first, end = {1: (10, 43), 2: (43, 60), 3: (80, 100)}[point.version]
        assert first * STEP <= point.since_step <= point.env_step < end * STEP
    assert sum(point.episodes for point in points) == 4 * (33 + 17 + 20)
    assert all(point.judged == 0 and point.score is None for point in points), "not judged: unknown"


def test_a_long_run_has_as_few_points_as_a_chart_can_show() -> None:
    history = gamed(loads=[(number + 1, number * STEP) for number in range(100)])
    assert len(look(history).points) <= 200
