"""Requests as a judge sends them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.judging.quest import QuestPosition
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.settings import Behaviour

TO_THE_ORCHARD: dict[str, Any] = {
    "start": {
        "game": "seedling-vale", "room": "0/118", "at": [72, 88], "items": ["sword"], "rupees": 5,
        "hearts": 3.0, "season": "spring",
    },
    "end": {
        "game": "seedling-vale", "room": "0/102", "at": [40, 104], "items": ["sword"], "rupees": 5,
        "hearts": 3.0, "season": "spring",
    },
}  # fmt: skip
"""From West Meadow into Old Orchard, where the chest with the coins is: 128 pixels nearer to it."""

FACTS: dict[str, Any] = {
    "segment": {"steps": 75, "seconds": 5.0},
    **TO_THE_ORCHARD,
    "rooms": {"first_visits": 1, "changes": 1, "different": 2},
    "movement": {"pixels": 300, "idle_share": 0.1, "path": [[0, 0], [150, 0]]},
    "changes": {"rupees": 0, "keys": 0, "items_gained": [], "deaths": 0},
    "dialog": {
        "steps": 10, "opened": 1, "closed": 1, "texts": 1, "open_at_end": False,
        "said": ["The orchard has a chest, dear."],
    },
    "control": {"steps_without": 10, "menu_steps": 0},
    "enemies": {"defeated": 0},
    "puzzle": {"parts": {}, "events_done": 0, "items_taken": 0},
}  # fmt: skip

QUEST = ("objective_start", "distance_start", "objective_end", "distance_end")
OBJECTIVES = 18
_VALUES = {"objective": range(1, OBJECTIVES + 1), "distance": range(21)}


def _schema(*names: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"rationale": {"type": "string"}}
    for name in names:
        values: list[Any] = ["segment_1", "segment_2", "tie"]
        if name != "better":
            values = list(_VALUES.get(name.split("_")[0], range(3)))
        properties[name] = {"enum": [*values, "insufficient_evidence"]}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.fixture
def facts() -> Callable[..., dict[str, Any]]:
    """The facts of a fair segment, with whole sections changed or (None) left out."""

    def make(**sections: dict[str, Any] | None) -> dict[str, Any]:
        merged = {
            name: part | (sections.get(name) or {})
            for name, part in FACTS.items()
            if sections.get(name, {}) is not None
        }
        return json.loads(json.dumps(merged))  # a deep copy

    return make


@pytest.fixture
def chat() -> Callable[..., dict[str, Any]]:
    """A judge's request body about some facts, asking for some keys; it has no noise."""

    def make(
        facts: dict[str, Any] | None = None,
        criteria: tuple[str, ...] = (*QUEST, "dialog"),
        **changes: Any,
    ) -> dict[str, Any]:
        block = f"Facts:\n```json\n{json.dumps(FACTS if facts is None else facts)}\n```\nJudge."
        schema = {"name": "verdict", "schema": _schema(*criteria), "strict": True}
        body: dict[str, Any] = {
            "model": "qwen25-7b",
            "messages": [
                {"role": "system", "content": "You judge."},
                {"role": "user", "content": block},
            ],
            "seed": 1,
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        return body | changes

    return make


Told = dict[str, Any]


@pytest.fixture
def reply() -> Callable[..., Told]:
    """The answer to a request's body, without noise unless it is asked for."""

    def ask(body: Told, **behaviour: Any) -> Told:
        chat = ChatRequest.model_validate({"max_tokens": 256} | body)
        found: Told = json.loads(answer(chat, Behaviour(**({"noise": 0} | behaviour))))
        return found

    return ask


@pytest.fixture
def rise() -> Callable[[Told], float]:
    """The rise on the quest that an answer reports."""

    def of(reported: Told) -> float:
        start, end = (
            QuestPosition(
                objective=reported[f"objective_{when}"], distance=reported[f"distance_{when}"]
            )
            for when in ("start", "end")
        )
        return end.position - start.position

    return of


@pytest.fixture
def backwards(facts: Callable[..., Told]) -> Callable[..., Told]:
    """The same segment with start and end exchanged."""

    def make(**sections: Any) -> Told:
        there = facts(**sections)
        return there | {"start": there["end"], "end": there["start"]}

    return make
