"""The shape of a judge's answer, and the strict reading of what came back.

An answer that does not fit the schema is invalid as a whole. Nothing is mended, cut out of prose or
filled in: a guess here would become a reward.
"""

from dataclasses import dataclass
from typing import Any

from rlaif.contracts.untrusted import NotJsonError, read_json
from rlaif.judge.rubric.judges import INSUFFICIENT, LEVELS, Judge

RATIONALE_CHARACTERS = 600
"""Longest rationale; about 150 tokens."""

ANSWER_CHARACTERS = 8192
"""Longest answer that is read at all; a valid one is far shorter."""


class InvalidAnswerError(ValueError):
    """The answer does not fit the schema; the text says where."""


@dataclass(frozen=True)
class Verdict:
    """A valid answer: criterion → level; None where the judge found the evidence insufficient."""

    rationale: str
    levels: dict[str, int | None]


def answer_schema(judge: Judge) -> dict[str, Any]:
    """JSON schema of the judge's answer.

    Flat, with enums only, because deep grammars slow constrained decoding down. The rationale comes
    first, so that the model reasons before it rates.
    """
    level = {"enum": [*LEVELS, INSUFFICIENT]}
    names = [criterion.name for criterion in judge.criteria]
    return {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "maxLength": RATIONALE_CHARACTERS},
            **{name: level for name in names},
        },
        "required": ["rationale", *names],
        "additionalProperties": False,
    }


def read_answer(judge: Judge, text: str) -> Verdict:
    """Read an answer strictly.

    Raises:
        InvalidAnswerError: Not one JSON object, missing, extra or repeated keys, or a value that is
            neither exactly the integers 0 to 2 nor `insufficient_evidence`.
    """
    answer = parse_object(text)
    names = [criterion.name for criterion in judge.criteria]
    expected = {"rationale", *names}
    if set(answer) != expected:
        missing, extra = sorted(expected - set(answer)), sorted(set(answer) - expected)
        raise InvalidAnswerError(f"keys are wrong: missing {missing}, not asked {extra[:5]}")
    rationale = answer["rationale"]
    if not isinstance(rationale, str) or len(rationale) > RATIONALE_CHARACTERS:
        raise InvalidAnswerError(f"rationale is not a text of <= {RATIONALE_CHARACTERS} characters")
    return Verdict(rationale, {name: _read_level(name, answer[name]) for name in names})


def _read_level(name: str, value: object) -> int | None:
    if value == INSUFFICIENT:
        return None
    # `type` and not `isinstance`: true is an int to Python, and 1.0 equals 1.
    if type(value) is int and value in LEVELS:
        return value
    raise InvalidAnswerError(f"{name} is {str(value)[:40]!r}, not 0, 1, 2 or {INSUFFICIENT!r}")


def parse_object(text: str) -> dict[str, Any]:
    """The one JSON object that `text` is, without repeated keys or NaN, else InvalidAnswerError."""
    if len(text) > ANSWER_CHARACTERS:
        raise InvalidAnswerError(f"answer has {len(text)} characters, more than a judge may send")
    try:
        value = read_json(text)
    except NotJsonError as error:
        raise InvalidAnswerError(str(error)) from error
    if not isinstance(value, dict):
        raise InvalidAnswerError(f"a JSON {type(value).__name__}, not an object")
    return value
