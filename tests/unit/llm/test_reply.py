import json

import pytest

from rlaif.llm.ports import InvalidReplyError
from rlaif.llm.reply import read_completion


def test_a_completion_tells_why_it_stopped_and_what_was_cached() -> None:
    body = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}},
    }
    answer = read_completion(json.dumps(body).encode())
    assert (answer.finish_reason, answer.prompt_tokens, answer.cached_tokens) == ("length", 9, 5)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": {}}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"choices": [{"message": {"content": "half a character: \\ud800"}}]}',
    ],
)
def test_a_reply_that_is_no_completion_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidReplyError):
        read_completion(body)
