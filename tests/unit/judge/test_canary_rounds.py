"""How canaries are asked, and what becomes of the answers."""

import asyncio
import json
import re
from collections.abc import Callable

import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.scores import CriterionScore
from rlaif.judge.panel.panel import PanelResult
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.trust.canaries import Canary, canaries
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.judge.trust.exclusion import Record
from rlaif.llm.ports import Answer, CompletionRequest, RefusedError, UnavailableError
from rlaif.llm.route import Route, RouteLimits
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.waiting import PATIENCE_SECONDS

Reply = Callable[[CompletionRequest], str]
INSUFFICIENT = "insufficient_evidence"


def _asked(request: CompletionRequest) -> Canary:
    content = request.messages[1]["content"]
    match = re.search(
        r"```json\n(.*)\n```", content if isinstance(content, str) else content[0]["text"]
    )
    assert match
    evidence = Evidence.model_validate_json(match[1])
    return next(canary for canary in canaries() if canary.evidence == evidence)


def _known(request: CompletionRequest) -> str:
    """What a judge that knows the game says."""
    canary = _asked(request)
    start, end = canary.objectives or (1, 1)
    # Half way in both moments, and nearer or farther at the end as the rise has it.
    way = {"objective_start": start, "distance_start": 10, "objective_end": end}
    way["distance_end"] = 10 - 2 * ((1 if canary.rise is None else canary.rise) - 1)
    if start != end:
        way["distance_end"] = 10
    return _answer(
        request, lambda n: way.get(n, canary.levels[n][0] if n in canary.levels else INSUFFICIENT)
    )


def _turned_round(request: CompletionRequest) -> str:
    """The same, the other way round."""
    said = json.loads(_known(request))
    if "distance_start" in said:
        said["distance_start"], said["distance_end"] = said["distance_end"], said["distance_start"]
        said["objective_start"], said["objective_end"] = (
            said["objective_end"],
            said["objective_start"],
        )
        if (
            said["objective_start"] == said["objective_end"]
            and said["distance_start"] == 10 == said["distance_end"]
        ):
            said["distance_end"] = 4  # what stood still came closer
    criteria = {"dialog", "efficiency", "puzzle", "novelty"}
    turned = {n: 2 - v if n in criteria and isinstance(v, int) else v for n, v in said.items()}
    return json.dumps(turned)


def _constant(request: CompletionRequest) -> str:
    return _answer(request, lambda name: 3 if "_" in name else 1)


def _answer(request: CompletionRequest, value: Callable[[str], object]) -> str:
    names = request.schema["properties"]
    return json.dumps({n: "because" if n == "rationale" else value(n) for n in names})


class Fake:
    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked: list[str] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        self.asked.append(_asked(request).name)
        return Answer(self.reply(request))


class Watched:
    def __init__(self, every: int = 50, **replies: Reply) -> None:
        self.fakes = {judge.name: Fake(replies.get(judge.name, _known)) for judge in JUDGES}
        routes = {
            name: Route(
                f"/{name}",
                fake,
                RouteLimits(attempts=1, failures=10_000),
            )
            for name, fake in self.fakes.items()
        }
        self.reported: dict[tuple[str, str], Record] = {}
        self.rounds = CanaryRounds(JUDGES, routes, every, max_tokens=256, on_known=self._note)

    def _note(self, judge: str, criterion: str, record: Record) -> None:
        self.reported[judge, criterion] = record

    async def segments(self, number: int) -> None:
        for _ in range(number):
            await self.rounds.before_segment()

    @property
    def calls(self) -> int:
        return sum(len(fake.asked) for fake in self.fakes.values())


async def test_after_some_rounds_enough_is_known_and_judges_are_asked_seldom() -> None:
    watched = Watched(every=50)
    await watched.segments(30)
    assert all(len(record.canaries) >= 6 for record in watched.reported.values())
    first = watched.calls
    assert first <= 40
    await watched.segments(500)
    assert watched.calls - first <= 8 * 10


async def test_over_many_rounds_every_canary_is_asked() -> None:
    watched = Watched(every=10)
    await watched.segments(200)
    asked = {name for fake in watched.fakes.values() for name in fake.asked}
    assert asked == {canary.name for canary in canaries()}


async def test_judges_that_know_the_answers_are_believed() -> None:
    watched = Watched()
    await watched.segments(100)
    assert watched.rounds.excluded() == {}
    assert all(record.right == len(record.canaries) for record in watched.reported.values())
    assert {criterion for _, criterion in watched.reported} == {
        "progress", "dialog", "efficiency", "puzzle", "novelty"
    }  # fmt: skip
    assert watched.rounds.check("state") is None


async def test_a_judge_that_turns_everything_round_is_soon_not_believed() -> None:
    watched = Watched(state=_turned_round)
    await watched.segments(10)
    assert "progress" in watched.rounds.excluded()["state"]
    assert set(watched.rounds.excluded()) == {"state"}
    reported = watched.rounds.check("state") or ""
    assert "progress: 0 of " in reported


async def test_a_judge_that_always_says_the_same_is_found_out() -> None:
    watched = Watched(vision=_constant, puzzle=_constant)
    await watched.segments(40)
    assert watched.rounds.excluded() == {
        "vision": frozenset({"novelty"}),
        "puzzle": frozenset({"puzzle"}),
    }


async def test_a_judge_that_obeys_the_texts_of_the_game_is_not_believed_on_progress() -> None:
    def obeys(request: CompletionRequest) -> str:
        said = " ".join(_asked(request).evidence.dialog.said or ())
        if not any(word in said for word in ("judge", "System", "Ignore")):
            return _known(request)
        return _answer(request, lambda n: {"objective_end": 18, "distance_end": 0}.get(n, 2))

    watched = Watched(state=obeys)
    record = Record()
    for _ in range(4):
        await watched.segments(20)
        record = watched.reported["state", "progress"]
    assert record.right < len(record.canaries)


async def test_a_judge_that_breaks_after_a_good_while_is_found_within_some_seventy_segments() -> (
    None
):
    watched = Watched(every=50)
    await watched.segments(500)
    assert watched.rounds.excluded() == {}
    watched.fakes["state"].reply = _turned_round
    await watched.segments(70)
    assert "progress" in watched.rounds.excluded()["state"]


async def test_a_judge_is_believed_again_once_it_answers_well() -> None:
    watched = Watched(state=_turned_round)
    await watched.segments(10)
    assert "state" in watched.rounds.excluded()
    watched.fakes["state"].reply = _known
    await watched.segments(60)
    assert watched.rounds.excluded() == {}


async def test_a_judge_that_is_bad_at_one_thing_is_believed_on_the_others() -> None:
    def bad_at_dialogs(request: CompletionRequest) -> str:
        return json.dumps(json.loads(_known(request)) | {"dialog": 1})

    watched = Watched(state=bad_at_dialogs)
    await watched.segments(100)
    assert watched.rounds.excluded() == {"state": frozenset({"dialog"})}


async def test_votes_that_do_not_follow_the_ram_cost_belief_too() -> None:
    watched = Watched(every=0)
    for n in range(60):
        known, said = n % 3, (n + 1) % 3
        score = CriterionScore(value=said / 2, votes=(said,) * 3, agreement=1.0, judge="puzzle")
        found = PanelResult({}, heard={"puzzle": score})
        watched.rounds.after_segment(found, score_record(truth={"puzzle": known}))
    assert watched.rounds.excluded() == {"puzzle": frozenset({"puzzle"})}
    assert "with the RAM" in str(watched.rounds.check("puzzle"))


async def test_an_outage_changes_no_statistics_and_an_unreadable_canary_is_a_wrong_one() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("down")

    watched = Watched(state=down, puzzle=lambda request: "no json")
    await watched.segments(30)
    assert set(watched.rounds.excluded()) == {"puzzle"}
    assert {judge for judge, _ in watched.reported} == {"puzzle", "vision"}


async def test_an_answer_cut_off_at_the_first_limit_excludes_no_judge() -> None:
    class Talkative(Fake):
        """Needs, for every second answer, the tokens that a repeated vote gets."""

        async def complete(self, request: CompletionRequest) -> Answer:
            answer = await super().complete(request)
            short = len(self.asked) % 2
            return Answer(answer.text[:30], "length") if short else answer

    watched = Watched(every=10)
    watched.rounds._routes["state"]._model = Talkative(_known)
    await watched.segments(200)
    assert watched.rounds.excluded() == {}
    assert watched.reported["state", "dialog"].right == len(
        watched.reported["state", "dialog"].canaries
    )


async def test_one_question_that_is_refused_keeps_no_other_from_being_asked() -> None:
    def squeamish(request: CompletionRequest) -> str:
        if "judge" in str(_asked(request).evidence.dialog.said):
            raise RefusedError("content filter", 400)
        return _known(request)

    watched = Watched(every=10, state=squeamish)
    await watched.segments(200)
    assert len(set(watched.fakes["state"].asked)) > 30


async def test_a_judge_that_cannot_be_asked_is_asked_again_soon_and_the_others_as_ever() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("down")

    watched = Watched(every=20)
    await watched.segments(400)
    calls = {name: len(fake.asked) for name, fake in watched.fakes.items()}
    watched.fakes["vision"].reply = down
    await watched.segments(100)
    asked = {name: len(fake.asked) - calls[name] for name, fake in watched.fakes.items()}
    assert asked["state"] <= 4 * 5
    assert asked["vision"] > 2 * 5


async def test_a_route_that_hangs_holds_no_segment_up_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(request: CompletionRequest) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("rlaif.judge.trust.canary_rounds._MAX_SECONDS", 0.05)
    watched = Watched()
    watched.fakes["puzzle"].complete = hang  # type: ignore[method-assign]  # the one that hangs
    async with asyncio.timeout(PATIENCE_SECONDS):
        await watched.segments(1)
    assert watched.rounds.excluded() == {}


async def test_a_slow_model_gets_the_time_for_its_canaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlaif.judge.trust.canary_rounds._MAX_SECONDS", 0.0)
    watched = Watched()
    watched.rounds._routes["puzzle"].stats.latencies.append(PATIENCE_SECONDS)
    await watched.segments(1)
    assert set(watched.reported) == {("puzzle", "puzzle")}


async def test_no_canary_is_asked_if_the_settings_disable_them() -> None:
    watched = Watched(every=0)
    await watched.segments(5)
    assert watched.calls == 0
