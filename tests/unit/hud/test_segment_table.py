from datetime import UTC, datetime, timedelta

from rlaif.contracts.catalog import envelop
from rlaif.hud.segment_table import SegmentTable
from rlaif.testing.events import segment_captured, segment_scored

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def scored_table(*seconds: int, keep: int) -> SegmentTable:
    table = SegmentTable(keep=keep)
    for second in seconds:
        data = segment_scored(f"segment-{second}")
        table.scored(envelop(data, source="t", time=NOON + timedelta(seconds=second)))
    return table


def test_the_newest_rows_are_kept_whatever_order_they_came_in() -> None:
    table = scored_table(3, 1, 4, 2, keep=2)
    assert [row.segment_id for row in table.newest(10)] == ["segment-4", "segment-3"]


def test_score_objects_of_dropped_rows_are_not_asked_for() -> None:
    table = scored_table(3, 1, 4, 2, keep=2)
    assert [score.segment_id for score in table.unread(10)] == ["segment-4", "segment-3"]


def test_only_rows_that_are_shown_have_their_score_read() -> None:
    assert len(scored_table(1, 2, 3, keep=10).unread(2)) == 2


def test_a_segment_that_is_only_captured_is_not_listed() -> None:
    table = scored_table(1, keep=10)
    table.captured(envelop(segment_captured("segment-9"), source="t", time=NOON))
    assert [row.segment_id for row in table.listing()] == ["segment-1"]
