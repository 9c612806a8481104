"""JSON schema of a judge's answer, and its parser.

Text around the answer and the format of numbers are ignored. A missing or unknown value makes the
whole answer invalid, because a guess would become a reward.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.judging.quest import QuestPosition
from rlaif.contracts.judging.scores import PROGRESS
from rlaif.contracts.planning.model_answers import NoAnswerError, read_answer_object, whole_number
from rlaif.judge.rubric.judges import INSUFFICIENT, LEVELS, Judge
from rlaif.judge.rubric.votes import DISTANCES, QuestVote
from rlaif.llm.ports import Answer, UnreadableAnswerError
from rlaif.llm.reply import CUT_OFF

RATIONALE_CHARACTERS = 600
"""Maximum stored length of a rationale, about 150 tokens."""

MOMENTS = ("start", "end")
"""Points of a segment for which the quest is asked."""

_TAIL_CHARACTERS = 64
_MAX_PERIOD = 8
_WANTS_MORE = (
    "cut off by its length: raise JUDGE_MAX_TOKENS; for a model that thinks set "
    'JUDGE_THINKING_TOKENS, or JUDGE_CHAT_TEMPLATE_KWARGS={"enable_thinking": false}'
)
_RUNS_AWAY = (
    "cut off by its length, running away at its end: forbid free white space in the server's "
    "grammar (vLLM: --structured-outputs-config.disable_any_whitespace=true), or change "
    "JUDGE_SCHEMA_MODE"
)


class InvalidAnswerError(UnreadableAnswerError):
    """The answer does not match the schema; the message names the place."""


class CutOffAnswerError(InvalidAnswerError):
    """The answer does not match the schema because it was truncated at the token limit.

    Attributes:
        runs_away: Whether it ends in white space or repetition: more tokens would not help.
    """

    fault = CUT_OFF

    def __init__(self, text: str) -> None:
        self.runs_away = runs_away(text)
        super().__init__(_RUNS_AWAY if self.runs_away else _WANTS_MORE)


@dataclass(frozen=True)
class Verdict:
    """A valid answer: criterion → level; None where the judge found the evidence insufficient.

    `quest` is set when the judge was asked for positions on the quest and gave both; the level of
    progress is then that of the difference.
    """

    rationale: str
    levels: dict[str, int | None]
    quest: QuestVote | None = None


def answer_schema(judge: Judge) -> dict[str, Any]:
    """JSON schema of the judge's answer.

    Flat, with enums only, because deep grammars slow down constrained decoding. The rationale is
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
    """Parse an answer.

    Raises:
        InvalidAnswerError: There is no single JSON object, or a key is missing, or a value is
            neither an integer of the schema nor `insufficient_evidence`.
    """
    asked = _asked(judge)
    rationale, answer = parse_answer(text, *asked)
    values = {name: _read_value(name, answer[name], allowed) for name, allowed in asked.items()}
    levels = {criterion.name: values[criterion.name] for criterion in judge.rated}
    if not judge.tells_quest:
        return Verdict(rationale, levels)
    start, end = (_quest_position(values, moment) for moment in MOMENTS)
    quest = QuestVote(start, end) if start and end else None
    return Verdict(rationale, {PROGRESS: quest.level if quest else None, **levels}, quest)


def check_answer(read: Callable[[str], object], answer: Answer) -> None:
    """Raise InvalidAnswerError if `read` cannot parse an answer, CutOffAnswerError if truncated."""
    try:
        read(answer.text)
    except InvalidAnswerError as error:
        cut_off = answer.finish_reason == CUT_OFF
        raised = CutOffAnswerError(answer.text) if cut_off else error
        raised.answer = answer
        raise raised from None


def runs_away(text: str) -> bool:
    """Whether a text ends in much white space or in a repeated group of characters."""
    tail = text[-_TAIL_CHARACTERS:]
    if len(tail) < _TAIL_CHARACTERS:
        return False
    if not tail.strip():
        return True
    periods = range(1, _MAX_PERIOD + 1)
    return any(tail == (tail[-n:] * _TAIL_CHARACTERS)[-_TAIL_CHARACTERS:] for n in periods)


def parse_answer(text: str, *required: str) -> tuple[str, dict[str, Any]]:
    """(truncated rationale, the JSON object); raises InvalidAnswerError."""
    try:
        answer = read_answer_object(text)
    except NoAnswerError as error:
        raise InvalidAnswerError(f"{error}; it begins {text[:60]!r}") from error
    if missing := sorted({"rationale", *required} - set(answer)):
        raise InvalidAnswerError(f"missing keys: {missing}")
    rationale = answer["rationale"]
    if not isinstance(rationale, str):
        raise InvalidAnswerError("rationale is not a string")
    return rationale[:RATIONALE_CHARACTERS], answer


def choice_of(value: object) -> str | None:
    """A normalized enum value; None if it is not a string."""
    return "_".join(value.lower().split()) if isinstance(value, str) else None


def _asked(judge: Judge) -> dict[str, tuple[int, ...]]:
    """Key of the answer → its allowed integers, in the order of the answer."""
    criteria: dict[str, tuple[int, ...]] = {criterion.name: LEVELS for criterion in judge.rated}
    if not judge.tells_quest:
        return criteria
    numbers = tuple(range(1, judge.objectives + 1))
    quest: dict[str, tuple[int, ...]] = {}
    for moment in MOMENTS:
        quest |= {f"objective_{moment}": numbers, f"distance_{moment}": DISTANCES}
    return {**quest, **criteria}


def _quest_position(values: Mapping[str, int | None], moment: str) -> QuestPosition | None:
    objective, distance = values[f"objective_{moment}"], values[f"distance_{moment}"]
    if objective is None or distance is None:
        return None
    return QuestPosition(objective=objective, distance=distance)


def _read_value(name: str, value: object, allowed: tuple[int, ...]) -> int | None:
    if choice_of(value) == INSUFFICIENT:
        return None
    number = whole_number(value)
    # `type` and not `isinstance`: a bool is an int.
    if type(number) is int and number in allowed:
        return number
    raise InvalidAnswerError(
        f"{name} is {str(value)[:40]!r}, not one of {allowed[0]} to {allowed[-1]} or "
        f"{INSUFFICIENT!r}"
    )
