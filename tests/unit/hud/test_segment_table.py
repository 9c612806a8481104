from datetime import timedelta

from rlaif.contracts.catalog import envelop
from rlaif.hud.read_model.segments.detail import score_detail
from rlaif.hud.read_model.segments.table import SegmentTable
from rlaif.testing.data.events import NOON, segment_captured, segment_scored
from rlaif.testing.data.judging.scores import score_record


def scored_table(*seconds: int, keep: int) -> SegmentTable:
    table = SegmentTable(keep=keep)
    for second in seconds:
        data = segment_scored(f"segment-{second}")
        table.scored(envelop(data, source="t", time=NOON + timedelta(seconds=second)))
    return table


def test_a_mean_is_not_shown_before_the_criteria_that_it_is_the_mean_of() -> None:
    table = scored_table(1, 2, keep=10)
    assert table.newest(10) == ()
    first = table.unread(10)[1]
    table.score_read(first, score_detail(score_record(segment_id="segment-1")))
    assert [row.segment_id for row in table.newest(10)] == ["segment-1"]


def test_a_score_that_cannot_be_read_now_is_shown_with_the_reason_until_it_can() -> None:
    table = scored_table(1, keep=10)
    [unread] = table.unread(10)
    assert table.score_delayed(unread, "the store is away")
    assert not table.score_delayed(unread, "the store is away"), "nothing new"
    [row] = table.newest(10)
    assert (row.score, row.score_problem) == (None, "the store is away")
    assert table.unread(10) == [unread], "it is asked for again"
    table.score_read(unread, score_detail(score_record()))
    [row] = table.newest(10)
    assert (row.score is not None, row.score_problem) == (True, None)


def test_score_objects_of_dropped_rows_are_not_asked_for() -> None:
    table = scored_table(3, 1, 4, 2, keep=2)
    assert [score.segment_id for score in table.unread(10)] == ["segment-4", "segment-3"]


def test_a_segment_that_is_only_captured_is_not_listed() -> None:
    table = scored_table(1, keep=10)
    table.captured(envelop(segment_captured("segment-9"), source="t", time=NOON))
    assert [row.segment_id for row in table.listing()] == ["segment-1"]
