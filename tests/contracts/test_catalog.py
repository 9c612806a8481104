import re

import pytest

from rlaif.contracts import events
from rlaif.contracts.catalog import CATALOG, STREAMS, UnknownEventError, parse_event, spec_of
from rlaif.contracts.events import DeadLetter, EventData
from rlaif.testing.data.events import dead_letter_of


def ids_of(specs):
    return [spec.type for spec in specs]


def test_every_event_class_has_one_row_with_its_own_type_and_subject():
    classes = {
        value
        for value in vars(events).values()
        if isinstance(value, type) and issubclass(value, EventData) and value is not EventData
    }
    assert {spec.data for spec in CATALOG} == classes
    assert len(CATALOG) == len(classes)
    assert len({spec.type for spec in CATALOG}) == len(CATALOG)
    assert len({spec.subject for spec in CATALOG}) == len(CATALOG)
    assert {spec.stream for spec in CATALOG} == set(STREAMS)


@pytest.mark.parametrize("spec", CATALOG, ids=ids_of(CATALOG))
def test_each_row_uses_names_that_nats_and_cloudevents_take(spec):
    assert re.fullmatch(r"rlaif(\.[a-z-]+)+\.v[0-9]+", spec.type)
    assert re.fullmatch(r"[a-z]+\.([a-z]+|\{stream\})", spec.subject)
    assert re.fullmatch(r"[A-Z_]+", spec.stream)
    for consumer in spec.consumers:
        assert re.fullmatch(r"[a-z-]+", consumer)
    assert spec_of(spec.data) is spec


def test_every_subject_is_stored_by_exactly_its_stream():
    for spec in CATALOG:
        subject = spec.subject.format(stream="CAPTURES").split(".")
        storing = [
            stream
            for stream, kept in STREAMS.items()
            for pattern in kept.subjects
            if all(p in (">", s) for p, s in zip(pattern.split("."), subject, strict=True))
        ]
        assert storing == [spec.stream]


def test_every_event_but_notices_is_consumed():
    """Dead letters, rejections and history are for people; an unhandled event else is a gap."""
    unconsumed = {spec.type for spec in CATALOG if not spec.consumers and spec.stream != "HISTORY"}
    assert unconsumed == {"rlaif.rm.rejected.v1", "rlaif.dead-letter.v1"}
    # Only streams without consumers may drop events when they are full.
    assert {stream for stream, kept in STREAMS.items() if kept.drops_oldest} == {"HISTORY", "DEAD"}
    assert not [spec for spec in CATALOG if spec.stream == "HISTORY" and spec.consumers]


def test_the_feedback_loop_closes():
    """Each producer of the pipeline consumes what its predecessor publishes."""
    ring = [spec for spec in CATALOG if spec.consumers]
    for spec, successor in zip(ring, [*ring[1:], ring[0]], strict=True):
        assert spec.consumers == (successor.producer,)


def test_a_dead_letter_travels_on_the_subject_of_its_stream():
    assert spec_of(DeadLetter).subject_for(dead_letter_of()) == "dead.CAPTURES"


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"{}", b"\xff", b'{"specversion":"1.0"}', b"null"],
)
def test_an_invalid_event_is_refused_with_one_error(payload):
    with pytest.raises(UnknownEventError):
        parse_event(payload)


def test_an_unknown_type_is_refused_by_name():
    payload = (
        b'{"specversion":"1.0","id":"x","source":"s","type":"rlaif.other.v1",'
        b'"time":"2026-01-01T00:00:00Z","data":{}}'
    )
    with pytest.raises(UnknownEventError, match=r"'rlaif\.other\.v1' is not in the catalog"):
        parse_event(payload)
