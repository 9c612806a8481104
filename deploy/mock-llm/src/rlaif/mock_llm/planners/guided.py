"""The planner that has read the guide: what the expert would do, as a plan or one button."""

from typing import Any

from rlaif.mock_llm.expert.answers import NO, choice
from rlaif.mock_llm.expert.situation import Situation
from rlaif.mock_llm.expert.solutions import solution
from rlaif.mock_llm.expert.standing import next_room
from rlaif.mock_llm.expert.steps import button

_SURE, _UNSURE = 0.9, 0.3


def plan(situation: Situation) -> dict[str, Any]:
    """A plan as plain values: the reason, the macros, how sure it is."""
    if situation.text is not None:
        number, why = choice(situation)
        return _plan(why, [{"kind": "ANSWER", "choice": number}], _SURE)
    deeds, why = solution(situation)
    if deeds:
        return _plan(why, deeds, _SURE)
    room = situation.room and situation.tile and next_room(situation.moment, situation.tile)
    if not room:
        return _plan(f"{why}; nothing to do", [{"kind": "ANSWER", "choice": NO}], 0.0)
    return _plan(f"{why}; go on to {room}", [{"kind": "MOVE_TO", "room": room}], _UNSURE)


def suggestion(situation: Situation) -> dict[str, Any]:
    """One button as plain values."""
    pressed, why = button(situation)
    return {"reason": why, "button": pressed}


def _plan(reason: str, macros: list[dict[str, Any]], confidence: float) -> dict[str, Any]:
    return {"reason": reason, "macros": macros, "confidence": confidence}
