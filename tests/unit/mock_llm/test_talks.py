"""Whether the expert rates a dialog as useful, by its content and for the next step."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.mock_llm.expert.objectives import OBJECTIVES
from rlaif.mock_llm.expert.talks import concerns, usefulness

Facts = Callable[..., dict[str, Any]]
TEXTS = Path(__file__).parents[3] / "libs/game/cartridge/data/texts.c"
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
    assert usefulness(evidence, [COINS])[0] == level


def test_the_same_words_are_of_no_use_to_whoever_is_past_them(facts: Facts) -> None:
    evidence = Evidence.model_validate(facts())
    assert usefulness(evidence, [9])[0] == 1


def _texts_of_the_game() -> list[str]:
    source = TEXTS.read_text(encoding="utf-8")
    source = source[source.index("texts[] = {") :]
    texts = re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+),', source)
    return [
        "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", " ").replace("\\f", " ")
        for text in texts
    ]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_somebody_in_the_game_tells_of_every_objective(objective: int) -> None:
    telling = [text for text in _texts_of_the_game() if concerns([text], objective)]
    assert 1 <= len(telling) <= 10
