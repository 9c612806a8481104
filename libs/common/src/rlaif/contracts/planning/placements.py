"""Placements: positions of several game states on the quest, by a language model.

A state is a briefing. Its placement is the number of the guide's next objective and the remaining
distance to it, as in judges' answers for the ends of a segment.
"""

from typing import Any

from pydantic import ValidationError

from rlaif.contracts.judging.quest import FARTHEST, QuestPosition
from rlaif.contracts.model import Contract
from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.model_answers import NoAnswerError, read_answer_object, whole_number


class States(Contract):
    """States to place, in the order shown."""

    states: tuple[Briefing, ...] = ()


def placement_schema(count: int, objectives: int) -> dict[str, Any]:
    """JSON schema of the answer for `count` states of a quest with `objectives` objectives."""
    number = {"type": ["integer", "null"], "enum": [*range(1, objectives + 1), None]}
    distance = {"type": ["integer", "null"], "enum": [*range(FARTHEST + 1), None]}
    fields = {
        name: field
        for state in range(1, count + 1)
        for name, field in ((f"objective_{state}", number), (f"distance_{state}", distance))
    }
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read_placements(text: str, count: int, objectives: int) -> tuple[QuestPosition | None, ...]:
    """Parse an answer; returns one position per state, None if it has no valid placement.

    Raises:
        NoAnswerError: The text does not have exactly one JSON object, or no valid placement.
    """
    answer = read_answer_object(text)
    found: list[QuestPosition | None] = []
    for state in range(1, count + 1):
        objective = whole_number(answer.get(f"objective_{state}"))
        distance = whole_number(answer.get(f"distance_{state}"))
        try:
            placed = QuestPosition.model_validate({"objective": objective, "distance": distance})
        except ValidationError:
            found.append(None)
        else:
            found.append(placed if placed.objective <= objectives else None)
    if not any(found) and any(value is not None for value in answer.values()):
        raise NoAnswerError("no valid placement")
    return tuple(found)
