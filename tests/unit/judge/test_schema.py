import json
import math
from typing import Any

import pytest

from rlaif.judge.panel.schema import (
    RATIONALE_CHARACTERS,
    InvalidAnswerError,
    answer_schema,
    read_answer,
)
from rlaif.judge.rubric.judges import INSUFFICIENT, JUDGES

STATE = JUDGES[0]
GOOD: dict[str, Any] = {
    "rationale": "Two new rooms.",
    "progress": 2,
    "dialog": INSUFFICIENT,
    "efficiency": 0,
}


def test_the_schema_asks_for_the_rationale_before_the_levels() -> None:
    schema = answer_schema(STATE)
    assert list(schema["properties"]) == ["rationale", "progress", "dialog", "efficiency"]
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "2",
        "progress: 2",
        json.dumps(GOOD) + json.dumps(GOOD | {"progress": 1}),
        json.dumps(GOOD)[:-5],
        json.dumps(GOOD | {"progress": 3}),
        json.dumps(GOOD | {"progress": -1}),
        json.dumps(GOOD | {"progress": 11}),
        json.dumps(GOOD | {"progress": 0.5}),
        json.dumps(GOOD | {"progress": "2/2"}),
        json.dumps(GOOD | {"progress": True}),
        json.dumps(GOOD | {"progress": None}),
        json.dumps(GOOD | {"progress": [2]}),
        json.dumps(GOOD | {"progress": math.nan}),
        json.dumps(GOOD | {"progress": math.inf}),
        json.dumps(GOOD | {"rationale": 7}),
        json.dumps(GOOD | {"rationale": "half a character: \ud83d"}),
        json.dumps({name: value for name, value in GOOD.items() if name != "dialog"}),
        '{"rationale": "", "progress": 0, "progress": 2, "dialog": 1, "efficiency": 1}',
        "[" * 100_000,
        '{"progress": ' + "9" * 8000 + "}",
        json.dumps(GOOD | {"rationale": "x" * 40_000}),
    ],
)
def test_an_answer_that_does_not_fit_is_invalid_as_a_whole(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read_answer(STATE, text)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD | {"progress": "2", "efficiency": 0.0}),
        json.dumps(GOOD | {"progress": " 2.0 ", "dialog": "Insufficient evidence"}),
        json.dumps(GOOD | {"score": 2}),
    ],
)
def test_a_number_or_a_choice_may_be_written_in_any_way(text: str) -> None:
    assert read_answer(STATE, text).levels == {"progress": 2, "dialog": None, "efficiency": 0}


def test_a_long_rationale_is_cut_to_what_is_stored() -> None:
    verdict = read_answer(STATE, json.dumps(GOOD | {"rationale": "x" * 10_000}))
    assert verdict.rationale == "x" * RATIONALE_CHARACTERS
