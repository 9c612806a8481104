import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.exporter.messages import (
    BrokenMessageError,
    Message,
    decode,
    encode,
)


@given(st.dictionaries(st.text(max_size=9), st.integers()), st.lists(st.binary(max_size=99)))
def test_a_message_comes_out_as_it_went_in(header, parts):
    header.pop("sizes", None)
    made = encode(header, parts)
    assert decode(made) == Message(header, tuple(parts))


@given(st.binary(max_size=99))
def test_any_other_bytes_are_refused_by_name(body):
    with pytest.raises(BrokenMessageError):
        decode(body)


@pytest.mark.parametrize("sizes", ["[-1]", "[9]", '["1"]', "7", "null", "[1e400]", "[" * 9_000])
def test_sizes_that_do_not_add_up_are_refused_by_name(sizes):
    text = f'{{"sizes": {sizes}}}'.encode()
    with pytest.raises(BrokenMessageError):
        decode(struct.pack(">I", len(text)) + text + b"xyz")
