"""Filters, orders and places of the list of segments."""

import random
from datetime import timedelta
from typing import Any

import pytest

from rlaif.hud.read_model.segments.queries import (
    ANY,
    MIN_SEGMENTS_OF_VERSION,
    ORDERS,
    Place,
    SegmentFilter,
    facets,
    ordered,
    place,
    with_gaps,
)
from rlaif.hud.read_model.views import SegmentRow
from rlaif.testing.data.events import NOON

EVERYTHING = SegmentFilter()


def row(number: int, **known: Any) -> SegmentRow:
    return SegmentRow(
        segment_id=f"s-{number}",
        episode_id="e-1",
        run_id="run-1",
        exported_at=NOON + timedelta(seconds=number),
        **known,
    )


def ids(rows: list[SegmentRow]) -> list[str]:
    return [each.segment_id for each in rows]


@pytest.mark.parametrize(
    ("wanted", "known", "other"),
    [
        (SegmentFilter(run="run-1"), {}, None),
        (SegmentFilter(min_score=0.5), {"weighted": 0.5}, {"weighted": 0.49}),
        (SegmentFilter(max_score=0.5), {"weighted": 0.5}, {"weighted": 0.51}),
        (SegmentFilter(max_agreement=0.7), {"votes_agreement": 0.6}, {"votes_agreement": 1.0}),
        (SegmentFilter(milestone=ANY), {"milestones": ("sword",)}, {"milestones": ()}),
        (SegmentFilter(milestone="sword"), {"milestones": ("sword",)}, {"milestones": ("boss",)}),
        (SegmentFilter(selected_by="uniform"), {"selected_by": "uniform"}, {"selected_by": "x"}),
        (SegmentFilter(reward_model_version=2), {"reward_model_version": 2}, {}),
        (SegmentFilter(room="0-7"), {"rooms": ((0, 5), (0, 7))}, {"rooms": ((0, 5),)}),
        (SegmentFilter(scored=False), {}, {"scored_at": NOON}),
    ],
)
def test_a_filter_keeps_what_fits_and_nothing_else(
    wanted: SegmentFilter, known: dict[str, Any], other: dict[str, Any] | None
) -> None:
    assert wanted.keeps(row(1, **known))
    assert other is None or not wanted.keeps(row(2, **other))


@pytest.mark.parametrize(
    "wanted",
    [
        SegmentFilter(min_score=0.0),
        SegmentFilter(max_score=1.0),
        SegmentFilter(max_agreement=1.0),
        SegmentFilter(milestone=ANY),
        SegmentFilter(selected_by="uniform"),
        SegmentFilter(room="0-0"),
    ],
)
def test_what_is_not_known_fits_no_filter(wanted: SegmentFilter) -> None:
    assert not wanted.keeps(row(1))


def test_rows_without_the_value_that_is_sorted_by_are_left_out() -> None:
    rows = [row(1, weighted=0.2), row(2), row(3, weighted=0.9)]
    assert ids(ordered(rows, EVERYTHING, "highest_score", None)) == ["s-3", "s-1"]
    assert ids(ordered(rows, EVERYTHING, "lowest_score", None)) == ["s-1", "s-3"]
    assert ids(ordered(rows, EVERYTHING, "newest", None)) == ["s-3", "s-2", "s-1"]


@pytest.mark.parametrize("order", ORDERS)
def test_pages_by_place_show_every_row_once_while_rows_come_and_go(order: Any) -> None:
    rng = random.Random(7)
    rows = with_gaps(
        [
            row(
                n,
                weighted=rng.choice([0.1, 0.5, 0.9]),
                votes_agreement=rng.choice([0.6, 1.0]),
                reward_model_version=1,
                model_rise=rng.choice([-0.5, 0.0, 0.5]),
            )
            for n in range(30)
        ]
    )
    seen: list[str] = []
    after = None
    while page := ordered(rows, EVERYTHING, order, after)[:4]:
        seen += ids(page)
        last = place(page[-1], order)
        assert last is not None
        after = Place.of_key(last.key())
        rows = [each for each in rows if each.segment_id != page[-1].segment_id]  # dropped
        rows.append(row(1000 + len(seen), weighted=1.0, votes_agreement=0.0, model_gap=2.0))
    old = [name for name in seen if int(name[2:]) < 1000]
    assert sorted(old) == sorted(f"s-{n}" for n in range(30))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("key", ["", "x", "[]", '[1,"x","s"]', '[1,"2026-01-01T00:00:00","s"]'])
def test_a_key_that_is_no_place_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="not a place"):
        Place.of_key(key)


def judged(number: int, *, rise: float, score: float, version: int = 1) -> SegmentRow:
    return row(number, reward_model_version=version, model_rise=rise, weighted=score)


def test_a_gap_compares_ranks_among_segments_of_one_version() -> None:
    agreeing = [judged(n, rise=n / 10, score=n / 10) for n in range(MIN_SEGMENTS_OF_VERSION)]
    assert [each.model_gap for each in with_gaps(agreeing)] == [0.0] * len(agreeing)
    turned = [judged(n, rise=-n / 10, score=n / 10) for n in range(MIN_SEGMENTS_OF_VERSION)]
    gaps = [each.model_gap for each in with_gaps(turned)]
    assert (gaps[0], gaps[-1]) == (1.0, -1.0), "the model thinks most of what judges think least"
    assert {each.model_gap_of for each in with_gaps(turned)} == {MIN_SEGMENTS_OF_VERSION}


def test_equal_values_share_their_rank() -> None:
    rows = [judged(n, rise=0.0, score=n / 10) for n in range(9)]
    assert with_gaps(rows)[4].model_gap == 0.0


def test_too_few_segments_of_a_version_say_nothing() -> None:
    few = [judged(n, rise=n, score=0.5, version=2) for n in range(MIN_SEGMENTS_OF_VERSION - 1)]
    unjudged = row(99, reward_model_version=2, model_rise=1.0)
    assert all(each.model_gap is None for each in with_gaps([*few, unjudged]))


def test_facets_count_what_there_is_to_filter_by() -> None:
    rows = [
        row(1, selected_by="uniform", milestones=("sword", "boss"), scored_at=NOON),
        row(2, selected_by="uniform", milestones=("sword",), reward_model_version=3),
        row(3),
    ]
    found = facets(rows)
    assert (found.segments, found.scored, found.with_model_gap) == (3, 1, 0)
    assert [(f.value, f.segments) for f in found.milestones] == [("sword", 2), ("boss", 1)]
    assert [(f.value, f.segments) for f in found.selected_by] == [("uniform", 2)]
    assert [(f.value, f.segments) for f in found.reward_model_versions] == [("3", 1)]
