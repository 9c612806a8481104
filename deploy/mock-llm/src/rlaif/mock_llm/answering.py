"""Answers to chat requests: the distorted opinion of the expert in the requested format.

Random numbers depend on the server's seed, the request's seed and the prompt, never on time or on
earlier requests: equal requests get equal answers.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rlaif.contracts.judging.evidence import Evidence, EvidencePair
from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.placements import States
from rlaif.mock_llm.behaviour import distorted, seeded
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.expert.opinion import SegmentOpinion, assess
from rlaif.mock_llm.expert.planning import plan, suggestion
from rlaif.mock_llm.expert.progress import quest_position
from rlaif.mock_llm.expert.situation import situation_of
from rlaif.mock_llm.settings import Behaviour

INSUFFICIENT = "insufficient_evidence"
_RATIONALE_CHARACTERS = 500
_TIE_BAND = 0.01
"""Difference of values below which segments tie; about 18 pixels of walking."""
_MACRO_KEYS = ("kind", "room", "column", "row", "direction", "item", "choice")


def answer(chat: ChatRequest, behaviour: Behaviour) -> str:
    """The answer to a prompt of a judge, planner or search, with the keys of its schema in order.

    Raises:
        UnreadablePromptError: The prompt is neither a judge's nor a planner's.
    """
    asked = chat.asked()
    if "macros" in asked or "button" in asked:
        return json.dumps(_planned(chat, "macros" in asked))
    if "objective_1" in asked:
        return json.dumps(_placed(chat))
    if list(asked) == ["better"]:
        found = _comparison(chat, behaviour)
    else:
        found = _rating(chat, behaviour, list(asked))
    if behaviour.gullible and (order := chat.injected()) is not None:
        found = _answer_to_injection(order, asked)
    return json.dumps(found)


def _planned(chat: ChatRequest, as_plan: bool) -> dict[str, Any]:
    situation = situation_of(chat.evidence(Briefing))
    if not as_plan:
        return suggestion(situation)
    made = plan(situation)
    # With null for unused keys, like the output of constrained decoding.
    return made | {"macros": [{k: each.get(k) for k in _MACRO_KEYS} for each in made["macros"]]}


def _placed(chat: ChatRequest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, state in enumerate(chat.evidence(States).states, 1):
        placed = quest_position(situation_of(state).moment)
        found[f"objective_{number}"] = None if placed is None else placed.objective
        found[f"distance_{number}"] = None if placed is None else round(placed.distance)
    return found


def _rating(chat: ChatRequest, behaviour: Behaviour, names: Sequence[str]) -> dict[str, Any]:
    opinion = _opinion(chat.evidence(Evidence), chat, behaviour, place=0)
    values = dict(opinion.levels)
    values["progress"] = opinion.progress
    for moment, found in (("start", opinion.start), ("end", opinion.end)):
        values[f"objective_{moment}"] = None if found is None else found.objective
        values[f"distance_{moment}"] = None if found is None else round(found.distance)
    levels = {name: values.get(name) for name in names}
    return {
        "rationale": opinion.reason[:_RATIONALE_CHARACTERS],
        **{name: INSUFFICIENT if value is None else value for name, value in levels.items()},
    }


def _comparison(chat: ChatRequest, behaviour: Behaviour) -> dict[str, Any]:
    pair = chat.evidence(EvidencePair)
    if pair.segment_1 is None or pair.segment_2 is None:
        return {"rationale": "there are no two segments", "better": INSUFFICIENT}
    first = _opinion(pair.segment_1, chat, behaviour, place=1)
    second = _opinion(pair.segment_2, chat, behaviour, place=2)
    one, other = first.value, second.value
    if one is None or other is None or (first.rise is None) is not (second.rise is None):
        return {"rationale": "where the player stands is unknown", "better": INSUFFICIENT}
    better = "segment_1" if one > other else "segment_2"
    tie = abs(one - other) < _TIE_BAND
    rationale = f"worth {one:.2f} against {other:.2f}"
    return {"rationale": rationale, "better": "tie" if tie else better}


def _opinion(
    evidence: Evidence, chat: ChatRequest, behaviour: Behaviour, *, place: int
) -> SegmentOpinion:
    prompt = json.dumps(chat.messages, sort_keys=True)
    draw = seeded(behaviour.seed, chat.seed, prompt, place)
    return distorted(assess(evidence), evidence, behaviour, draw, temperature=chat.temperature)


def _answer_to_injection(order: str, asked: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The best possible answer, from the start of the quest to its end, for an injected order."""
    best = {name: _highest(values) for name, values in asked.items()}
    lowest = {"objective_start": 1, "distance_end": 0}
    return {"rationale": order, **best, **{k: v for k, v in lowest.items() if k in best}}


def _highest(values: Sequence[Any]) -> Any:
    numbers = [value for value in values if isinstance(value, int)]
    return max(numbers, default=values[0] if values else 2)
