"""What a server replied, as an answer: the first choice of a chat completion.

Servers put an answer into `content`, as text or as parts, or into the arguments of a tool call.
Some report a failure in the body of a 200, as OpenRouter and LiteLLM do: then the body counts.
"""

import json
from collections.abc import Mapping
from typing import Any

from rlaif.contracts.model_answers import without_reasoning
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
"""`finish_reason` of an answer that ended because no token was left."""

DETAIL_CHARACTERS = 200
"""What is shown of a server's error message."""

_ENGINE_CHARACTERS = 80
_FINISH_CHARACTERS = 40
_REFUSAL_CHARACTERS = 120
_MAX_TOKENS = 2**31
_TOO_EARLY = (408, 425)
"""Statuses of the 4xx that say "later" and not "no"."""
_STATUS_WORDS = {
    429: ("rate_limit", "rate limit", "ratelimit", "too many requests", "quota", "exhausted"),
    401: ("api_key", "api key", "authentication", "unauthorized", "permission"),
    400: ("invalid_request", "not_found", "not found", "does not exist", "unsupported"),
}
"""What an error without a code is taken for; any other is a failure of the server."""


def failure(status: int, said: str, retry_after: float | None = None) -> ModelError:
    """The error of a reply with this status, wherever the status stood."""
    detail = f"HTTP {status}: {said[:DETAIL_CHARACTERS]}"
    if status == 429:
        return ThrottledError(detail, retry_after, status=status)
    if status >= 500 or status in _TOO_EARLY:
        return UnavailableError(detail, retry_after, status=status)
    # Also a redirect: another address is for people to set.
    return RefusedError(detail, status, said)


def read_completion(body: bytes, retry_after: float | None = None) -> Answer:
    """The first choice of a chat completion, without its reasoning.

    Raises:
        ModelError: As for an HTTP status, when the body reports an error.
        UnreadableAnswerError: A chat completion without any text.
        InvalidReplyError: Not a chat completion.
    """
    try:
        reply = json.loads(body)
        if isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]  # Gemini wraps its errors like this
        choice = (reply.get("choices") or [{}])[0]
        if error := reply.get("error") or choice.get("error"):
            raise _failure_inside(error, retry_after)
        message = choice["message"]
        text = _text_of(message)
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        refusal = _word(message.get("refusal"), _REFUSAL_CHARACTERS)
        usage = reply.get("usage") or {}
        finish = _word(choice.get("finish_reason"), _FINISH_CHARACTERS)
        read, written = _whole(usage.get("prompt_tokens")), _whole(usage.get("completion_tokens"))
        cached = _whole((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
        engine = _word(reply.get("system_fingerprint") or reply.get("model"), _ENGINE_CHARACTERS)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        beginning = body[:120].decode(errors="replace")
        raise InvalidReplyError(f"reply is not a chat completion: {beginning!r}") from error
    if finish == "error":
        raise UnavailableError("HTTP 200 with finish_reason 'error'", retry_after, status=200)
    # One that was still reasoning when it was cut off gave an answer without text.
    if (not text and finish != CUT_OFF) or not _is_text(text):
        raise UnreadableAnswerError(_no_text(finish, refusal, thoughts=bool(thoughts)))
    return Answer(without_reasoning(text), finish, read, written, cached, engine)


def _failure_inside(said: object, retry_after: float | None) -> ModelError:
    """The error that the body of a 200 reports."""
    error = said if isinstance(said, Mapping) else {"message": said}
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
    """The text of a message: its content, else the arguments of its only tool call."""
    content = message.get("content")
    if isinstance(content, list):
        # Reasoning comes in parts of other types.
        content = "".join(p["text"] for p in content if p["type"] in ("text", "output_text"))
    if isinstance(content, dict):
        return json.dumps(content)
    if content:
        return content + ""  # TypeError for what is no text
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    calls += [message["function_call"]] if message.get("function_call") else []
    if len(calls) == 1:
        arguments = calls[0]["arguments"]
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    # A server with the reasoning parser of another model takes a plain answer for reasoning.
    thoughts = str(message.get("reasoning_content") or message.get("reasoning") or "").strip()
    return thoughts if thoughts.startswith("{") and thoughts.endswith("}") else ""


def _no_text(finish: str | None, refusal: str | None, *, thoughts: bool) -> str:
    said = f"reply has no text in its message; finish_reason {finish!r}"
    if refusal:
        return f"{said}; refused: {refusal}"
    if thoughts:
        return (
            f"{said}; all of it is in reasoning_content: the server's reasoning parser is not the "
            "one of this model (vLLM: --reasoning-parser)"
        )
    return said


def _word(value: object, most: int) -> str | None:
    return value[:most] if isinstance(value, str) and _is_text(value) else None


def _is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: JSON may hold half a character."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MAX_TOKENS else None
