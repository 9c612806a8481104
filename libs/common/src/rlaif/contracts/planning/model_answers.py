"""Extracts the single JSON object from the text of a language model.

Reasoning, sentences and code fences around it are dropped; nothing is repaired. Texts with two
different objects or a malformed one are rejected.
"""

import contextlib
import json
import re
from typing import Any

from rlaif.contracts.untrusted import NotJsonError, read_json

MAX_CHARACTERS = 32 * 1024
"""Maximum length of a text with an answer, including reasoning."""

_TAGS = r"think|thinking|thoughts?|reasoning|analysis|scratchpad|seed:think"
_OPENS = (
    rf"<(?:{_TAGS})>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel\|?>(?:analysis|commentary|thought)"
)
_CLOSES = (
    rf"</(?:{_TAGS})>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<\|end\|>"
    r"|<channel\|>|<\|channel\|?>final[^{]{0,80}?<\|message\|>|\bassistantfinal(?=[\s`{])"
)
# gpt-oss marks channels; without special tokens, `assistantfinal` remains of the mark.
_NEXT = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<object>\{{)", re.IGNORECASE)
_CLOSE = re.compile(_CLOSES, re.IGNORECASE)
_LOOKS_LIKE_JSON = re.compile(r'\{\s*"')
_QUOTED_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_DECODER = json.JSONDecoder()


class NoAnswerError(ValueError):
    """The text does not hold exactly one JSON object."""


def without_reasoning(text: str) -> str:
    """The text after a model's reasoning; the opening mark may be missing."""
    return _split(text)[0]


def read_answer_object(text: str) -> dict[str, Any]:
    """The single JSON object of an answer, which may be repeated; raises NoAnswerError."""
    if len(text) > MAX_CHARACTERS:
        raise NoAnswerError(f"answer has {len(text)} characters, more than the limit")
    _, found = _split(text)
    if not found:
        raise NoAnswerError(f"no JSON object in {len(text)} characters")
    try:
        values = [read_json(part) for part in found]
    except NotJsonError as error:
        raise NoAnswerError(str(error)) from error
    if any(json.dumps(value) != json.dumps(values[0]) for value in values):
        raise NoAnswerError(f"{len(values)} different JSON objects")
    answer: dict[str, Any] = values[0]
    return answer


def whole_number(value: object) -> object:
    """The integer of `2`, `2.0`, `"2"` or `"2.0"`; any other value unchanged."""
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}(?:\.0+)?\s*", value, re.ASCII):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _split(text: str) -> tuple[str, list[str]]:
    """(text after the reasoning, its JSON objects, including malformed ones)."""
    begin, at, found = 0, 0, list[str]()
    while mark := _NEXT.search(text, at):
        at = mark.end()
        if mark["object"]:
            is_json = _LOOKS_LIKE_JSON.match(text, mark.start()) is not None
            at = _end_of_braces(text, mark.start(), is_json=is_json)
            if is_json:
                found.append(text[mark.start() : at])
            continue
        if mark["opens"]:
            closes = _CLOSE.search(text, at)
            at = closes.end() if closes else len(text)
        begin, found = at, []
    return text[begin:].strip().removeprefix("\ufeff"), found


def _end_of_braces(text: str, start: int, *, is_json: bool) -> int:
    """Index after the brace that matches the one at `start`; the end of the text without one."""
    if is_json:
        with contextlib.suppress(ValueError, RecursionError):
            return _DECODER.raw_decode(text, start)[1]
    depth = 0
    for part in _QUOTED_OR_BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0:
            return part.end()
    return len(text)
