from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.mock_llm.expert.criteria import RULES

Facts = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("criterion", "sections", "level"),
    [
        ("progress", {}, 1),
        ("progress", {"changes": {"items_gained": ["sword"]}}, 2),
        ("progress", {"changes": {"keys": 1}}, 2),
        ("progress", {"rooms": {"first_visits": 3}}, 2),
        ("progress", {"rooms": {"first_visits": 0, "changes": 0}}, 0),
        ("progress", {"rooms": {"first_visits": 0, "changes": 0}, "enemies": {"defeated": 1}}, 1),
        ("progress", {"end": {"hearts": 0}, "changes": {"keys": 1}}, 0),
        ("efficiency", {}, 2),
        ("efficiency", {"movement": {"idle_share": 0.9}}, 0),
        ("efficiency", {"rooms": {"changes": 0}, "movement": {"path": [[0, 0], [9, 0]]}}, 1),
        ("efficiency", {"control": {"menu_steps": 60}}, 0),
        ("efficiency", {"control": {"steps_without": 74}}, None),
        ("puzzle", {}, None),
        ("puzzle", {"puzzle": {"parts": {"torches_lit": [1, 1, 1]}}}, 0),
        ("puzzle", {"puzzle": {"parts": {"buttons_pressed": [0, 1, 0]}}}, 1),
        ("puzzle", {"puzzle": {"events_done": 1}}, 2),
        ("puzzle", {"changes": {"keys": 1}}, 2),
        ("novelty", {}, 1),
        ("novelty", {"rooms": {"first_visits": 2}}, 2),
        ("novelty", {"rooms": {"first_visits": 0, "different": 3}}, 0),
    ],
)
def test_each_rule_follows_its_anchors(
    facts: Facts, criterion: str, sections: dict[str, Any], level: int | None
) -> None:
    assert RULES[criterion](Evidence.model_validate(facts(**sections)))[0] == level


@pytest.mark.parametrize("criterion", RULES)
def test_without_evidence_every_rule_abstains(criterion: str) -> None:
    assert RULES[criterion](Evidence())[0] is None
    nulls = {"rooms": {"first_visits": None}, "dialog": None, "movement": {"idle_share": None}}
    assert RULES[criterion](Evidence.model_validate(nulls))[0] is None
