"""The shape of a judge's answer, and the strict reading of what came back.

An answer that does not fit the schema is invalid as a whole. Nothing is mended, cut out of prose or
filled in: a guess here would become a reward.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.quest import Standing
from rlaif.contracts.untrusted import NotJsonError, read_json
from rlaif.judge.rubric.judges import INSUFFICIENT, LEVELS, PROGRESS, Judge
from rlaif.judge.rubric.quest import DISTANCES, QuestVote

RATIONALE_CHARACTERS = 600
"""Longest rationale; about 150 tokens."""

MOMENTS = ("start", "end")
"""Of a segment, for each of which the quest is asked."""

ANSWER_CHARACTERS = 8192
"""Longest answer that is read at all; a valid one is far shorter."""


class InvalidAnswerError(ValueError):
    """The answer does not fit the schema; the text says where."""


@dataclass(frozen=True)
class Verdict:
    """A valid answer: criterion → level; None where the judge found the evidence insufficient.

    `quest` is where the judge has the player, when it was asked and could tell for both moments;
    the level of progress is then that of its rise.
    """

    rationale: str
    levels: dict[str, int | None]
    quest: QuestVote | None = None


def answer_schema(judge: Judge) -> dict[str, Any]:
    """JSON schema of the judge's answer.

    Flat, with enums only, because deep grammars slow constrained decoding down. The rationale comes
    first, so that the model reasons before it rates.
    """
    asked = _asked(judge)
    return {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "maxLength": RATIONALE_CHARACTERS},
            **{name: {"enum": [*values, INSUFFICIENT]} for name, values in asked.items()},
        },
        "required": ["rationale", *asked],
        "additionalProperties": False,
    }


def read_answer(judge: Judge, text: str) -> Verdict:
    """Read an answer strictly.

    Raises:
        InvalidAnswerError: Not one JSON object, missing, extra or repeated keys, or a value that is
            neither exactly one of the integers in the schema nor `insufficient_evidence`.
    """
    answer = parse_object(text)
    asked = _asked(judge)
    expected = {"rationale", *asked}
    if set(answer) != expected:
        missing, extra = sorted(expected - set(answer)), sorted(set(answer) - expected)
        raise InvalidAnswerError(f"keys are wrong: missing {missing}, not asked {extra[:5]}")
    rationale = answer["rationale"]
    if not isinstance(rationale, str) or len(rationale) > RATIONALE_CHARACTERS:
        raise InvalidAnswerError(f"rationale is not a text of <= {RATIONALE_CHARACTERS} characters")
    told = {name: _read_value(name, answer[name], values) for name, values in asked.items()}
    levels = {criterion.name: told[criterion.name] for criterion in judge.rated}
    if not judge.tells_quest:
        return Verdict(rationale, levels)
    quest = _quest_vote(told)
    return Verdict(rationale, {PROGRESS.name: quest.level if quest else None, **levels}, quest)


def _asked(judge: Judge) -> dict[str, tuple[int, ...]]:
    """Key of the answer → the integers that may stand there, in the order of the answer."""
    criteria: dict[str, tuple[int, ...]] = {criterion.name: LEVELS for criterion in judge.rated}
    if not judge.tells_quest:
        return criteria
    numbers = tuple(range(1, judge.objectives + 1))
    quest: dict[str, tuple[int, ...]] = {}
    for moment in MOMENTS:
        quest |= {f"objective_{moment}": numbers, f"distance_{moment}": DISTANCES}
    return {**quest, **criteria}


def _quest_vote(told: Mapping[str, int | None]) -> QuestVote | None:
    start, end = (_standing(told, moment) for moment in MOMENTS)
    return QuestVote(start, end) if start and end else None


def _standing(told: Mapping[str, int | None], moment: str) -> Standing | None:
    objective, distance = told[f"objective_{moment}"], told[f"distance_{moment}"]
    if objective is None or distance is None:
        return None
    return Standing(objective=objective, distance=distance)


def _read_value(name: str, value: object, allowed: tuple[int, ...]) -> int | None:
    if value == INSUFFICIENT:
        return None
    # `type` and not `isinstance`: true is an int to Python, and 1.0 equals 1.
    if type(value) is int and value in allowed:
        return value
    raise InvalidAnswerError(
        f"{name} is {str(value)[:40]!r}, not one of {allowed[0]} to {allowed[-1]} or "
        f"{INSUFFICIENT!r}"
    )


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
