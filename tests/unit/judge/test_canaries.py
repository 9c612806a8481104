import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.evidence import Evidence
from rlaif.judge.routes.ports import Answer, CompletionRequest, UnavailableError
from rlaif.judge.routes.route import Route, RouteLimits
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.settings import CallSettings, CanarySettings
from rlaif.judge.trust.canaries import CANARIES, CanaryResult, grade
from rlaif.judge.trust.canary_rounds import CanaryRounds

STATE = JUDGES[0]
Reply = Callable[[CompletionRequest], str]


def _known(request: CompletionRequest) -> str:
    """What a judge that reads the anchors says."""
    content = request.messages[1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    match = re.search(r"```json\n(.*)\n```", text)
    assert match
    evidence = Evidence.model_validate_json(match[1])
    canary = next(canary for canary in CANARIES if canary.evidence == evidence)
    return _answer(request, lambda name: canary.levels.get(name, "insufficient_evidence"))


def _answer(request: CompletionRequest, level: Callable[[str], object]) -> str:
    names = request.schema["properties"]
    return json.dumps({n: "because" if n == "rationale" else level(n) for n in names})


class Fake:
    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.calls = 0

    async def complete(self, request: CompletionRequest) -> Answer:
        self.calls += 1
        return Answer(self.reply(request))


class Watched:
    def __init__(self, every: int = 50, **replies: Reply) -> None:
        self.fakes = {judge.name: Fake(replies.get(judge.name, _known)) for judge in JUDGES}
        routes = {
            name: Route(f"/{name}", fake, RouteLimits(CallSettings(attempts=1)))
            for name, fake in self.fakes.items()
        }
        self.told: dict[str, tuple[CanaryResult, bool]] = {}
        self.keeper = CanaryRounds(
            JUDGES, routes, CanarySettings(every=every), max_tokens=256, on_result=self._note
        )

    def _note(self, name: str, result: CanaryResult, believed: bool) -> None:
        self.told[name] = (result, believed)


async def test_judges_that_know_the_answers_are_believed() -> None:
    watched = Watched()
    await watched.keeper.before_segment()
    assert watched.keeper.distrusted() == frozenset()
    assert {name: result.accuracy for name, (result, _) in watched.told.items()} == {
        "state": 1.0,
        "puzzle": 1.0,
        "vision": 1.0,
    }


async def test_a_judge_that_always_says_the_same_is_found_out() -> None:
    watched = Watched(vision=lambda request: _answer(request, lambda name: 1))
    await watched.keeper.before_segment()
    assert watched.keeper.distrusted() == {"vision"}
    assert watched.told["vision"][0].constant == ("novelty",)


async def test_a_judge_that_turns_everything_round_is_not_believed() -> None:
    def turned(request: CompletionRequest) -> str:
        levels = json.loads(_known(request))
        return json.dumps({k: 2 - v if isinstance(v, int) else v for k, v in levels.items()})

    watched = Watched(state=turned)
    await watched.keeper.before_segment()
    assert watched.keeper.distrusted() == {"state"}
    watched.fakes["state"].reply = _known
    await watched.keeper.ask()
    assert watched.keeper.distrusted() == frozenset()


async def test_an_outage_or_garbage_changes_nobodys_standing() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("down")

    watched = Watched(state=down, puzzle=lambda request: "no json")
    await watched.keeper.before_segment()
    assert watched.keeper.distrusted() == frozenset()
    assert set(watched.told) == {"vision"}


async def test_canaries_come_before_the_first_segment_and_then_now_and_then() -> None:
    watched = Watched(every=3)
    for _ in range(8):
        await watched.keeper.before_segment()
    mine = sum(bool({"puzzle"} & set(canary.levels)) for canary in CANARIES)
    assert watched.fakes["puzzle"].calls == 2 * mine


async def test_a_judge_that_cannot_be_asked_is_asked_again_soon_and_the_others_as_ever() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("down")

    watched = Watched(every=20, vision=down)
    for _ in range(21):
        await watched.keeper.before_segment()
    asked = {name: fake.calls for name, fake in watched.fakes.items()}
    one_round = {name: fake.calls for name, fake in (await _one_round()).fakes.items()}
    assert asked["state"] == one_round["state"]
    assert asked["vision"] > one_round["vision"]


async def _one_round() -> Watched:
    watched = Watched()
    await watched.keeper.before_segment()
    return watched


async def test_a_route_that_hangs_holds_no_segment_up_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(request: CompletionRequest) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("rlaif.judge.trust.canary_rounds._MOST_SECONDS", 0.05)
    watched = Watched()
    watched.fakes["puzzle"].complete = hang  # type: ignore[method-assign]  # the one that hangs
    async with asyncio.timeout(5):
        await watched.keeper.before_segment()
    assert watched.keeper.distrusted() == frozenset()


async def test_no_canary_is_asked_when_the_settings_say_so() -> None:
    watched = Watched(every=0)
    await watched.keeper.before_segment()
    assert watched.fakes["state"].calls == 0


def test_answers_that_cannot_be_read_are_not_counted_as_wrong() -> None:
    answers: list[Any] = [(CANARIES[0], None), (CANARIES[1], {"progress": 2, "efficiency": None})]
    result = grade(STATE, answers)
    assert (result.asked, result.answered, result.right) == (4, 2, 1)
    assert result.constant == ()


def test_every_criterion_has_a_low_and_a_high_canary() -> None:
    for judge in JUDGES:
        for criterion in judge.criteria:
            levels = {c.levels[criterion.name] for c in CANARIES if criterion.name in c.levels}
            assert {0, 2} <= levels, criterion.name
