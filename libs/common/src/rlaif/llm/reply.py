"""What a server replied, as an answer: the first choice of a chat completion.

A model that thinks before it answers has its thoughts in a field of its own when its server parses
them (`reasoning_content`, `reasoning`); they are not read. Other servers leave them in the text,
closed by `</think>`; they are cut off here, and what is left is read as strictly as ever.
"""

import json

from rlaif.llm.ports import Answer, InvalidReplyError

CUT_OFF = "length"
"""`finish_reason` of an answer that ended because no token was left."""

_CLOSES = "</think>"
_ENGINE_CHARACTERS = 80
_FINISH_CHARACTERS = 40
_REFUSAL_CHARACTERS = 120
_MOST_TOKENS = 2**31


def read_completion(body: bytes) -> Answer:
    """The first choice of a chat completion; InvalidReplyError when the body is none."""
    try:
        reply = json.loads(body)
        choice = reply["choices"][0]
        message = choice["message"]
        text = message["content"]
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
    if text is None and finish == CUT_OFF:
        text = ""  # it was still thinking: an answer of no text, and no broken server
    if not isinstance(text, str) or not _is_text(text):
        raise InvalidReplyError(_no_text(finish, refusal, thoughts=bool(thoughts)))
    return Answer(without_thoughts(text), finish, read, written, cached, engine)


def without_thoughts(text: str) -> str:
    """The text after the thoughts at its beginning; the same text when there are none.

    Some chat templates open the thoughts themselves, so `<think>` may be missing. A text that
    begins like the answer, or closes thoughts more than once, is left as it is.
    """
    if text.lstrip().startswith("{") or text.count(_CLOSES) != 1:
        return text
    return text.partition(_CLOSES)[2].lstrip()


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
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None
