"""Ratings of states by a language model."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.model_answers import NoAnswerError
from rlaif.contracts.planning.placements import placement_schema, read_placements
from rlaif.game.description.words import GameWords
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import RamBlocks
from rlaif.guides import guides
from rlaif.guides.guides import guide_of
from rlaif.llm.ports import Answer, CompletionRequest, UnavailableError
from rlaif.mock_llm.answering import answer as expert_answer
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.settings import Behaviour
from rlaif.testing.waiting import eventually
from rlaif.trainer.planning.state_rater import ModelRater, messages, open_rater
from rlaif.trainer.settings.planner import PlannerSettings

GAME = "seedling-vale"
OBJECTIVES = len(guide_of(GAME).objectives)


def answer(*placements: tuple[Any, Any]) -> str:
    fields: dict[str, Any] = {}
    for number, (objective, distance) in enumerate(placements, 1):
        fields |= {f"objective_{number}": objective, f"distance_{number}": distance}
    return json.dumps(fields)


class Model:
    """Gives fixed answers in turn; an error is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers, self.requests = list(answers), list[CompletionRequest]()
        self.events: list[str] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        self.requests.append(request)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return Answer(found, prompt_tokens=100, completion_tokens=10)

    @asynccontextmanager
    async def opened(self, settings: PlannerSettings) -> AsyncIterator[Mapping[Any, Any]]:
        self.events.append("opened")
        yield {"puzzle": self}
        self.events.append("closed")


def rater_of(model: Model) -> ModelRater:
    settings = PlannerSettings(base_url="http://llm:8000", pause_seconds=0.01)
    return ModelRater(settings, GameWords(GAME), model.opened)


async def positions_of(rater: ModelRater, states: int) -> list[float | None]:
    rater.ask([RamBlocks(bytes(0x2000))] * states)
    found: list[list[float | None]] = []

    def answered() -> bool:
        answers = rater.answers()
        if answers is not None:
            found.append(list(answers))
        return bool(found)

    await eventually(answered, "the states are rated")
    return found[0]


async def rated(model: Model, states: int) -> tuple[list[float | None], ModelRater]:
    rater = rater_of(model)
    positions = await positions_of(rater, states)
    rater.close()
    return positions, rater


async def test_states_get_positions_on_the_quest():
    model = Model(answer((1, 20), (3, 10), (None, 4)))
    positions, rater = await rated(model, 3)
    assert positions == [0.0, pytest.approx(2.45), None]
    assert rater.tokens == 110


async def test_all_requests_share_one_model_which_remembers_its_server():
    model = Model(answer((1, 20)), UnavailableError("down"), answer((2, 0)))
    rater = rater_of(model)
    assert [len(await positions_of(rater, 1)) for _ in range(3)] == [1, 0, 1]
    assert model.events == ["opened"]
    rater.close()
    await eventually(lambda: model.events == ["opened", "closed"], "the model is closed")


async def test_a_request_shows_guide_and_states_and_names_the_objectives():
    model = Model(answer((1, 20), (2, 0)))
    await rated(model, 2)
    (request,) = model.requests
    assert guide_of(GAME).text in request.messages[0]["content"]
    assert request.messages[1]["content"].count(f'"game":"{GAME}"') == 2
    assert request.schema == placement_schema(2, OBJECTIVES)


@pytest.mark.parametrize("failure", [UnavailableError("refused"), "no JSON", RuntimeError("odd")])
async def test_a_failed_request_has_no_positions(failure: str | Exception):
    assert (await rated(Model(failure), 2))[0] == []


def test_a_state_without_a_valid_placement_is_left_out():
    text = answer((OBJECTIVES + 1, 0), (2, 21), ("3", "2.0"), (1.5, 1))
    assert [each and each.objective for each in read_placements(text, 4, OBJECTIVES)] == [
        None,
        None,
        3,
        None,
    ]


@pytest.mark.parametrize("text", ["", "[]", answer((0, 0)), '{"placed":1}'])
def test_an_answer_without_any_valid_placement_is_none(text: str):
    with pytest.raises(NoAnswerError):
        read_placements(text, 1, OBJECTIVES)


def test_an_abstention_from_all_states_is_an_answer():
    assert read_placements(answer((None, None)), 1, OBJECTIVES) == (None,)


def test_the_expert_places_each_state_of_a_request():
    """The prompt fits what the mock LLM reads."""
    states = [
        Briefing(game=GAME, room="0/119", at=(4, 5), rupees=0, items=items)
        for items in ((), ("sword",), ("sword", "shield"))
    ]
    states.append(Briefing(game=GAME))
    wrapped = {"schema": placement_schema(len(states), OBJECTIVES)}
    chat = ChatRequest(
        model="qwen25-32b",
        messages=list(messages(states, guide_of(GAME))),
        response_format={"type": "json_schema", "json_schema": wrapped},
    )
    placed = read_placements(expert_answer(chat, Behaviour()), len(states), OBJECTIVES)
    assert [each and each.objective for each in placed] == [1, 2, 4, None]


def test_the_guide_of_a_generated_world_is_read_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(guides, "_worlds", tmp_path / "elsewhere")
    world = load_cartridge(tmp_path / "data/worlds/world-7-20/world.gbc")
    rater = open_rater(PlannerSettings(base_url="http://llm:8000"), world)
    assert rater is not None
    rater.close()
