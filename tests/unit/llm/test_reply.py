import json

import pytest

from rlaif.llm.ports import InvalidReplyError, RefusedError, ThrottledError, UnavailableError
from rlaif.llm.reply import read_completion


def test_a_completion_reports_why_it_stopped_and_what_was_cached() -> None:
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
        b'{"choices": null}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"delta": {"content": "{}"}}]}',
        b'{"message": {"role": "assistant", "content": "{}"}, "done": true}',
        b"\xff\xfe",
        b'{"choices": [{"message": {"content": "half a character: \\ud800"}}]}',
    ],
)
def test_a_reply_that_is_no_completion_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidReplyError):
        read_completion(body)


@pytest.mark.parametrize("usage", [None, "free", [], {"prompt_tokens_details": [5]}])
def test_what_only_counts_tokens_spoils_no_answer(usage: object) -> None:
    body = {"choices": [{"message": {"content": "{}"}}], "usage": usage}
    answer = read_completion(json.dumps(body).encode())
    assert (answer.text, answer.prompt_tokens, answer.cached_tokens) == ("{}", None, None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"code": 429, "message": "API rate limit exceeded"}, ThrottledError),
        ({"object": "error", "code": 503, "message": "overloaded"}, UnavailableError),
        ({"code": 20012, "message": "Model does not exist", "data": None}, RefusedError),
    ],
)
def test_an_error_may_be_the_whole_body(body: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        read_completion(json.dumps(body).encode())


@pytest.mark.parametrize("body", [b'data: {"choices": [{"delta": {}}]}\n\n', b"event: message\n"])
def test_a_stream_that_was_not_requested_is_reported_as_one(body: bytes) -> None:
    with pytest.raises(InvalidReplyError, match="stream"):
        read_completion(body)
