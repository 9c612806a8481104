import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlaif.bus.dead_letters import MAX_DETAIL, dead_letter, with_id, without_original
from rlaif.bus.topology import TopologySettings, stream_config
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


def travelling(letter) -> bytes:
    return envelop(letter, source="rlaif/exporter", time=NOW).model_dump_json().encode()


STRANGE = (
    b"[" * 30_000,
    b'{"id":' * 10_000 + b"1" + b"}" * 10_000,
    b'{"id":"x","data":' + b"[" * 190 + b"]" * 190 + b"}",
    rb'{"id":"\ud800"}',
    rb'{"id":"x","\udfff":1}',
    b'{"id":"x","data":NaN}',
    b'{"id":"x","data":1e999}',
    b'{"id":"x","id":"y"}',
    b'{"id":"x","data":' + b"9" * 5_000 + b"}",
    b"\xff\xfe\x00",
    b"data:application/octet-stream;base64,not of ours",
    b'{"id":"a\\r\\nNats-Rollup: all"}',
)


@given(st.binary(max_size=200))
@example(b"")
@pytest.mark.parametrize("wrap", [lambda each: each, lambda each: b'{"id":"' + each + b'"}'])
def test_any_bytes_make_a_dead_letter_that_travels(wrap, payload):
    letter = letter_of(wrap(payload))
    assert parse_event(travelling(letter)).data == letter


@pytest.mark.parametrize("payload", STRANGE, ids=lambda each: repr(each[:24]))
def test_what_is_hardly_json_makes_a_dead_letter_that_travels(payload):
    letter = letter_of(payload)
    assert parse_event(travelling(letter)).data == letter


@pytest.mark.parametrize("payload", STRANGE[:-1], ids=lambda each: repr(each[:24]))
def test_what_was_no_json_is_sent_again_byte_for_byte(payload):
    assert with_id(letter_of(payload), "new") == payload


@pytest.mark.parametrize("byte", [b"\x01", b"\xff", b'"', b"\\"])
def test_the_largest_message_makes_a_letter_that_its_stream_takes(byte):
    largest = stream_config("CAPTURES", TopologySettings()).max_msg_size
    room = stream_config("DEAD", TopologySettings()).max_msg_size
    assert largest is not None
    assert room is not None
    letter = travelling(letter_of(byte * largest, "\x01" * MAX_DETAIL))
    assert len(letter) < min(room, 1.34 * largest + 6 * MAX_DETAIL + 1024)


def test_a_letter_that_is_too_large_says_where_the_event_lies():
    bare = without_original(letter_of(b"x" * 100_000), 7)
    assert bare.original == "too large to be kept here; it is message 7 of stream CAPTURES"
    assert len(travelling(bare)) < 1024


@given(st.text(min_size=1, max_size=400))
def test_any_event_id_fits_into_the_letters_own_id(event_id):
    letter = letter_of(json.dumps({"id": event_id}).encode())
    made = envelop(letter, source="rlaif/exporter", time=NOW).id
    assert len(made) <= 200
    assert made.isprintable()


@pytest.mark.parametrize("detail", ["half a pair: \ud800", "\x00\n", ""])
def test_any_detail_travels(detail):
    letter = letter_of(b"{}", detail)
    assert parse_event(travelling(letter)).data == letter
