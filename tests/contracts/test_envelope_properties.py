import json
from datetime import UTC

from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.contracts.catalog import CATALOG, envelop, parse_event, spec_of
from rlaif.contracts.events import SegmentCaptured, SegmentScored
from rlaif.testing.data.events import segment_captured, segment_scored

ids = st.from_regex(r"[a-z0-9][a-z0-9-]{0,63}", fullmatch=True)
times = st.datetimes(timezones=st.just(UTC))
traces = st.none() | st.from_regex(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]", fullmatch=True)
captures = st.builds(segment_captured, ids, capture_key=st.text(min_size=1, max_size=50))
scores = st.builds(segment_scored, ids, weighted=st.none() | st.floats(0, 1), judge_config=ids)
sources = st.text(max_size=30)


@given(captures | scores, sources, times, traces)
@settings(deadline=None)
def test_an_event_survives_the_wire(data, source, time, trace):
    event = envelop(data, source=source, time=time, traceparent=trace)
    assert parse_event(event.model_dump_json().encode()) == event


@given(captures | scores, times, times)
@settings(deadline=None)
def test_equal_data_gives_an_equal_id_for_any_publisher_and_time(data, first, second):
    assert envelop(data, source="a", time=first).id == envelop(data, source="b", time=second).id


@given(ids, ids)
def test_ids_differ_between_segments_and_between_kinds(first, second):
    captured = spec_of(SegmentCaptured).dedupe_key
    scored = spec_of(SegmentScored).dedupe_key
    assert (captured(segment_captured(first)) == captured(segment_captured(second))) == (
        first == second
    )
    assert captured(segment_captured(first)) != scored(segment_scored(first))


@given(ids, ids)
def test_scores_of_two_judge_configs_have_two_ids(first, second):
    scored = spec_of(SegmentScored).dedupe_key
    ids_equal = scored(segment_scored(judge_config=first)) == scored(
        segment_scored(judge_config=second)
    )
    assert ids_equal == (first == second)


@given(captures | scores, times)
@settings(deadline=None)
def test_an_event_is_a_cloudevent_in_structured_json(data, time):
    """The attributes that CloudEvents 1.0.2 requires, and its rule for the content type."""
    event = json.loads(envelop(data, source="rlaif/test", time=time).model_dump_json())
    assert event["specversion"] == "1.0"
    assert all(event[name] for name in ("id", "source", "type"))
    assert event["type"] in {spec.type for spec in CATALOG}
    assert event["datacontenttype"] == "application/json"
    assert len(event["id"]) <= 200
