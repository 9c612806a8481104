"""The expert's rule of each criterion."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.mock_llm.expert.criteria import RULES, concerns, usefulness
from rlaif.mock_llm.expert.world import World, world_of

Facts = Callable[..., dict[str, Any]]
TEXTS = Path(__file__).parents[3] / "libs/game/cartridge/data/texts.c"
VALE = cast(World, world_of(None))
COINS = 2


@pytest.mark.parametrize(
    ("sections", "level"),
    [
        ({}, 2),
        ({"dialog": {"said": ["The  ORCHARD\nhas a chest"]}}, 2),
        ({"dialog": {"said": ["My frog says: well done, Pip!"]}}, 1),
        ({"dialog": {"said": ["In winter you may walk on Mirror Pond."]}}, 1),
        ({"dialog": {"said": []}}, 1),
        ({"dialog": {"closed": 0, "open_at_end": True}}, 1),
        ({"dialog": {"said": None}}, None),
        ({"dialog": {"said": None}, "changes": {"items_gained": ["shovel"]}}, 2),
        ({"dialog": {"steps": 75, "closed": 0, "open_at_end": True}}, 0),
        ({"dialog": {"opened": 4, "closed": 4, "texts": 1}}, 0),
        ({"dialog": {"steps": 0}}, None),
        ({"dialog": None}, None),
    ],
)
def test_a_text_is_useful_that_concerns_the_next_objective_or_brings_an_item(
    facts: Facts, sections: dict[str, Any], level: int | None
) -> None:
    evidence = Evidence.model_validate(facts(**sections))
    assert usefulness(evidence, VALE, [COINS])[0] == level


def test_a_text_on_an_earlier_objective_is_not_useful(facts: Facts) -> None:
    evidence = Evidence.model_validate(facts())
    assert usefulness(evidence, VALE, [9])[0] == 1


def _texts_of_the_game() -> list[str]:
    source = TEXTS.read_text(encoding="utf-8")
    source = source[source.index("texts[] = {") :]
    texts = re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+),', source)
    return [
        "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", " ").replace("\\f", " ")
        for text in texts
    ]


@pytest.mark.parametrize("objective", range(1, VALE.last + 1))
def test_texts_of_the_game_concern_every_objective(objective: int) -> None:
    texts = [text for text in _texts_of_the_game() if concerns(VALE, [text], objective)]
    assert 1 <= len(texts) <= 10


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
