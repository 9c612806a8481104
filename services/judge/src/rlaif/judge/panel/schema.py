"""The shape of a judge's answer, and the reading of what came back.

What stands around the answer and in what form a number is written makes no difference. A missing or
unknown value makes the whole answer invalid: a guess here would become a reward.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.model_answers import NoAnswerError, read_answer_object, whole_number
from rlaif.contracts.quest import Standing
from rlaif.judge.rubric.judges import INSUFFICIENT, LEVELS, PROGRESS, Judge
from rlaif.judge.rubric.quest import DISTANCES, QuestVote
from rlaif.llm.ports import UnreadableAnswerError

RATIONALE_CHARACTERS = 600
"""Longest rationale that is stored, about 150 tokens; a longer one is cut."""

MOMENTS = ("start", "end")
"""Of a segment, for each of which the quest is asked."""


class InvalidAnswerError(UnreadableAnswerError):
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
    """Read an answer.

    Raises:
        InvalidAnswerError: Not one JSON object, a missing key, or a value that is neither one of
            the integers in the schema nor `insufficient_evidence`.
    """
    asked = _asked(judge)
    answer = parse_answer(text, "rationale", *asked)
    rationale = rationale_of(answer)
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
    if choice_of(value) == INSUFFICIENT:
        return None
    number = whole_number(value)
    # `type` and not `isinstance`: true is an int to Python.
    if type(number) is int and number in allowed:
        return number
    raise InvalidAnswerError(
        f"{name} is {str(value)[:40]!r}, not one of {allowed[0]} to {allowed[-1]} or "
        f"{INSUFFICIENT!r}"
    )


def parse_answer(text: str, *required: str) -> dict[str, Any]:
    """The one JSON object in an answer, which has all `required` keys, else InvalidAnswerError."""
    try:
        answer = read_answer_object(text)
    except NoAnswerError as error:
        raise InvalidAnswerError(f"{error}; it begins {text[:60]!r}") from error
    if missing := sorted(set(required) - set(answer)):
        raise InvalidAnswerError(f"keys are wrong: missing {missing}")
    return answer


def rationale_of(answer: Mapping[str, Any]) -> str:
    """The rationale of an answer, cut to what is stored, else InvalidAnswerError."""
    rationale = answer["rationale"]
    if not isinstance(rationale, str):
        raise InvalidAnswerError("rationale is not a text")
    return rationale[:RATIONALE_CHARACTERS]


def choice_of(value: object) -> str | None:
    """A word of an enum however it is spelled; None for what is no text."""
    return "_".join(value.lower().split()) if isinstance(value, str) else None
