from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from rlaif.bus.dead_letters import MAX_DETAIL, dead_letter, with_id
from rlaif.contracts.catalog import envelop, parse_event

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def letter_of(payload: bytes, detail: str = "why"):
    return dead_letter(
        payload,
        stream="CAPTURES",
        sequence=7,
        subject="a.b",
        consumer="exporter",
        attempts=1,
        reason="invalid_event",
        detail=detail,
        dead_at=NOW,
    )


@given(st.binary(max_size=200))
def test_any_bytes_make_a_dead_letter_that_travels(payload):
    event = envelop(letter_of(payload), source="rlaif/exporter", time=NOW)
    assert parse_event(event.model_dump_json().encode()) == event


@given(st.text(min_size=1, max_size=400).map(lambda text: text.replace('"', "'")))
def test_any_event_id_fits_into_the_letters_own_id(event_id):
    letter = letter_of(with_id({"id": "x"}, event_id))
    assert len(envelop(letter, source="rlaif/exporter", time=NOW).id) <= 200


def test_long_event_ids_stay_distinct():
    first, second = (letter_of(with_id({}, "x" * 300 + end)).event_id for end in "ab")
    assert first != second


def test_an_unreadable_message_is_named_by_its_place():
    assert letter_of(b"{").event_id == "unreadable-captures-7"


def test_a_long_detail_is_cut():
    assert len(letter_of(b"{}", "x" * 10_000).detail) == MAX_DETAIL
