"""Parses the reply of a server: the first choice of a chat completion, or an error.

Servers put an answer into `content`, as text or as parts, or into the arguments of a tool call.
Some, such as OpenRouter and LiteLLM, report an error in the body of a 200.
"""

import json
from collections.abc import Mapping
from typing import Any

from rlaif.contracts.planning.model_answers import without_reasoning
from rlaif.llm.ports import (
    Answer,
    InvalidReplyError,
    ModelError,
    RefusedError,
    ThrottledError,
    UnavailableError,
    UnreadableAnswerError,
)

CUT_OFF = "length"
"""`finish_reason` of an answer that reached the token limit."""

DETAIL_CHARACTERS = 200
"""Maximum stored length of a server's error message."""

_ENGINE_CHARACTERS = 80
_FINISH_CHARACTERS = 40
_REFUSAL_CHARACTERS = 120
_MAX_TOKENS = 2**31
_RETRYABLE = (408, 425)
"""4xx statuses that are temporary."""
_STATUS_WORDS = {
    429: ("rate_limit", "rate limit", "ratelimit", "too many requests", "quota", "exhausted"),
    401: ("api_key", "api key", "authentication", "unauthorized", "permission"),
    400: ("invalid_request", "not_found", "not found", "does not exist", "unsupported"),
}
"""Statuses of errors without a code; any other is a server error."""


def failure(status: int, message: str, retry_after: float | None = None) -> ModelError:
    """The error for a status, of HTTP or in a body."""
    detail = f"HTTP {status}: {message[:DETAIL_CHARACTERS]}"
    if status == 429:
        return ThrottledError(detail, retry_after, status=status)
    if status >= 500 or status in _RETRYABLE:
        return UnavailableError(detail, retry_after, status=status)
    # Includes redirects, which are not followed.
    return RefusedError(detail, status, message)


def read_completion(body: bytes, retry_after: float | None = None) -> Answer:
    """Parse the first choice of a chat completion, without its reasoning; raises ModelError."""
    try:
        reply = json.loads(body)
        if isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]  # Gemini wraps its errors like this
        choice = (reply.get("choices") or [{}])[0]
        bare = reply if not choice and {"code", "message"} <= reply.keys() else None
        if error := reply.get("error") or choice.get("error") or bare:
            raise _failure_inside(error, retry_after)
        message = choice["message"]
        text = _text_of(message)
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        refusal = _word(message.get("refusal"), _REFUSAL_CHARACTERS)
        usage = _mapping(reply.get("usage"))
        finish = _word(choice.get("finish_reason"), _FINISH_CHARACTERS)
        read, written = _whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens"))
        cached = _whole(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
        engine = _word(reply.get("system_fingerprint") or reply.get("model"), _ENGINE_CHARACTERS)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        beginning = body[:120].decode(errors="replace")
        streamed = ", but a stream that was not requested" * body.startswith((b"data:", b"event:"))
        raise InvalidReplyError(
            f"reply is not a chat completion{streamed}: {beginning!r}"
        ) from error
    if finish == "error":
        raise UnavailableError("HTTP 200 with finish_reason 'error'", retry_after, status=200)
    # A model that reaches the token limit while reasoning has written no text.
    if (not text and finish != CUT_OFF) or not _is_text(text):
        raise UnreadableAnswerError(_no_text(finish, refusal, thoughts=bool(thoughts)))
    return Answer(without_reasoning(text), finish, read, written, cached, engine)


def _failure_inside(body: object, retry_after: float | None) -> ModelError:
    error = body if isinstance(body, Mapping) else {"message": body}
    text = str(error.get("message") or error)
    codes = [str(error.get(key)) for key in ("code", "status", "type")]
    for code in codes:
        if code.isdecimal() and 400 <= int(code) < 600:
            return failure(int(code), text, retry_after)
    words = f"{codes} {text}".lower()
    for status, known in _STATUS_WORDS.items():
        if any(word in words for word in known):
            return failure(status, text, retry_after)
    return UnavailableError(f"HTTP 200 with an error: {text[:DETAIL_CHARACTERS]}", status=200)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        # Reasoning comes in parts of other types.
        content = "".join(p["text"] for p in content if p["type"] in ("text", "output_text"))
    if isinstance(content, dict):
        return json.dumps(content)
    if content:
        return content + ""  # TypeError unless it is a string
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    calls += [message["function_call"]] if message.get("function_call") else []
    if len(calls) == 1:
        arguments = calls[0]["arguments"]
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    # A server with the reasoning parser of another model reports a plain answer as reasoning.
    thoughts = str(message.get("reasoning_content") or message.get("reasoning") or "").strip()
    return thoughts if thoughts.startswith("{") and thoughts.endswith("}") else ""


def _no_text(finish: str | None, refusal: str | None, *, thoughts: bool) -> str:
    detail = f"reply has no text in its message; finish_reason {finish!r}"
    if refusal:
        return f"{detail}; refused: {refusal}"
    if thoughts:
        return (
            f"{detail}; all of it is in reasoning_content: the server's reasoning parser does not "
            "match this model (vLLM: --reasoning-parser)"
        )
    return detail


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _word(value: object, limit: int) -> str | None:
    return value[:limit] if isinstance(value, str) and _is_text(value) else None


def _is_text(value: str) -> bool:
    """Whether it can be encoded as UTF-8: JSON may contain lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MAX_TOKENS else None
