import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.wire import ChatRequest

Chat = Callable[..., dict[str, Any]]
Facts = Callable[..., dict[str, Any]]
NO_TALK = {"steps": 0}


def _better(body: dict[str, Any], **manner: Any) -> str:
    chat = ChatRequest.model_validate(body)
    told = json.loads(answer(chat, MannerSettings(**({"noise": 0} | manner))).text)
    return str(told["better"])


def _pair(chat: Chat, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return chat({"segment_1": first, "segment_2": second}, criteria=("better",))


@pytest.mark.parametrize(
    "worse",
    [
        {"end": {"at": [40, 126]}},
        {"end": {"room": "0/118", "at": [72, 88]}},
        {"dialog": NO_TALK},
        {"dialog": {"said": ["My frog says: well done!"]}},
    ],
)
def test_the_segment_that_is_worth_more_is_preferred_in_either_place(
    chat: Chat, facts: Facts, worse: dict[str, Any]
) -> None:
    assert _better(_pair(chat, facts(), facts(**worse))) == "segment_1"
    assert _better(_pair(chat, facts(**worse), facts())) == "segment_2"


def test_a_puzzle_that_gave_way_counts(chat: Chat, facts: Facts) -> None:
    solved = facts(puzzle={"events_done": 1})
    assert _better(_pair(chat, facts(), solved)) == "segment_2"


@pytest.mark.parametrize(
    "alike", [{}, {"movement": {"pixels": 900}}, {"control": {"menu_steps": 60}}]
)
def test_what_brings_nobody_closer_makes_no_difference(
    chat: Chat, facts: Facts, alike: dict[str, Any]
) -> None:
    assert _better(_pair(chat, facts(), facts(**alike))) == "tie"


def test_without_two_segments_it_abstains(chat: Chat, facts: Facts) -> None:
    assert _better(chat(facts(), criteria=("better",))) == "insufficient_evidence"


def test_on_the_map_and_off_it_are_not_compared(chat: Chat, facts: Facts) -> None:
    off = {"end": {"room": "0/1"}}
    assert _better(_pair(chat, facts(), facts(**off))) == "insufficient_evidence"
    found = facts(**off, changes={"items_gained": ["feather"]})
    assert _better(_pair(chat, found, facts(**off))) == "segment_1"


def test_it_answers_with_pictures_beside_the_evidence(chat: Chat, facts: Facts) -> None:
    body = _pair(chat, facts(), facts(dialog=NO_TALK))
    url = {"url": "data:image/png;base64,AAAA"}
    body["messages"][1]["content"] = [
        {"type": "text", "text": body["messages"][1]["content"]},
        {"type": "image_url", "image_url": url},
        {"type": "image_url", "image_url": url},
    ]
    assert _better(body) == "segment_1"


def test_who_leans_to_the_first_place_prefers_it_unseen(chat: Chat, facts: Facts) -> None:
    body = _pair(chat, facts(dialog=NO_TALK), facts())
    assert _better(body, first_bias=1) == "segment_1"
    said = [_better(body | {"seed": seed}, first_bias=0.3) for seed in range(200)]
    assert 40 < said.count("segment_1") < 80
