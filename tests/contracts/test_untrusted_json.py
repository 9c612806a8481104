import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.untrusted import MAX_DEPTH, NotJsonError, read_json

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(plain)
def test_json_is_read_as_it_was_written(value):
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=300) | st.text(max_size=300))
def test_anything_is_a_value_or_one_error(data):
    with suppress(NotJsonError):
        json.dumps(read_json(data), allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"9" * 5_000,
        b'{"a":1,"a":2}',
        rb'"\ud800"',
        rb'{"\udfff":1}',
        "\ud800",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_json_that_cannot_be_written_again_is_refused(data):
    with pytest.raises(NotJsonError):
        read_json(data)


def test_the_deepest_nesting_that_is_read():
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
