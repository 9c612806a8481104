"""Requests as a judge sends them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

FACTS: dict[str, Any] = {
    "segment": {"steps": 75, "seconds": 5.0},
    "end": {"hearts": 3},
    "rooms": {"first_visits": 1, "changes": 1, "different": 2},
    "movement": {"pixels": 300, "idle_share": 0.1, "path": [[0, 0], [150, 0]]},
    "changes": {"rupees": 0, "keys": 0, "items_gained": [], "deaths": 0},
    "dialog": {"steps": 10, "opened": 1, "closed": 1, "open_at_end": False},
    "control": {"steps_without": 10, "menu_steps": 0},
    "enemies": {"defeated": 0},
    "puzzle": {"parts": {}, "events_done": 0, "items_taken": 0},
}


def _schema(*names: str) -> dict[str, Any]:
    level = {"enum": [0, 1, 2, "insufficient_evidence"]}
    properties = {"rationale": {"type": "string"}} | dict.fromkeys(names, level)
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
    """A judge's request body about some facts, asking for some criteria."""

    def make(
        facts: dict[str, Any] | None = None,
        criteria: tuple[str, ...] = ("progress", "dialog", "efficiency"),
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
