import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.comparisons import ComparisonRecord, soft_preference
from rlaif.contracts.evidence import Changes, Evidence, Span
from rlaif.contracts.scores import ScoreRecord
from rlaif.judge.panel.assignment import in_share
from rlaif.judge.panel.near_ties import NearTies
from rlaif.judge.panel.pairwise import comparison_messages, read_comparison, turned
from rlaif.judge.panel.schema import InvalidAnswerError
from rlaif.judge.routes.ports import Answer, CompletionRequest, UnavailableError
from rlaif.judge.routes.route import Route, RouteLimits
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.settings import CallSettings, CompareSettings
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.scores import score_record

Reply = Callable[[dict[str, Any]], str]
PUZZLE = JUDGES[1]


def _by_rupees(shown: dict[str, Any]) -> str:
    """A judge that looks at the rupees gained and not at the place."""
    one, other = (shown[name]["changes"]["rupees"] for name in ("segment_1", "segment_2"))
    return "tie" if one == other else "segment_1" if one > other else "segment_2"


class Fake:
    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.shown: list[dict[str, Any]] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        text = request.messages[1]["content"]
        shown = json.loads(text.split("```json\n")[1].split("\n```")[0])
        self.shown.append(shown)
        return Answer(json.dumps({"rationale": "because", "better": self.reply(shown)}))


class Bench:
    def __init__(self, store: ObjectStore, reply: Reply = _by_rupees, share: float = 1.0) -> None:
        self.store = store
        self.fake = Fake(reply)
        self.results: list[str] = []
        self.calls = 0
        route = Route("/puzzle", self.fake, RouteLimits(CallSettings(attempts=1)))
        self.ties = NearTies(
            store,
            PUZZLE,
            route,
            CompareSettings(share=share),
            max_tokens=256,
            on_call=self._called,
            on_compared=self.results.append,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        )

    def _called(self, record: Any) -> None:
        self.calls += 1

    async def score(self, segment_id: str, weighted: float | None, rupees: int) -> None:
        evidence = Evidence(changes=Changes(rupees=rupees))
        await self.ties.compare_near_tie(evidence, _record(segment_id, weighted), "a" * 64)

    def stored(self) -> ComparisonRecord:
        (info,) = self.store.list(keys.comparisons())
        return ComparisonRecord.model_validate_json(self.store.get(info.key))


def _record(segment_id: str, weighted: float | None) -> ScoreRecord:
    digest = segment_id[-1] * 64
    return score_record(segment_id=segment_id, weighted=weighted, evidence_sha256=digest)


async def test_a_near_tie_is_asked_in_both_orders_and_stored_once(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.score("seg-2", 0.50, rupees=1)
    await bench.score("seg-1", 0.52, rupees=5)
    record = bench.stored()
    assert (record.first, record.second, record.soft) == ("seg-1", "seg-2", 1.0)
    assert (record.first_shown_first, record.second_shown_first) == ("first", "first")
    shown_first = [shown["segment_1"]["changes"]["rupees"] for shown in bench.fake.shown]
    assert sorted(shown_first) == [1, 5]
    assert (bench.results, bench.calls, len(record.calls)) == (["decided"], 2, 2)


async def test_a_judge_that_follows_the_place_gives_a_tie(store: ObjectStore) -> None:
    bench = Bench(store, reply=lambda shown: "segment_1")
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert bench.stored().soft == 0.5
    assert bench.results == ["orders_disagree"]


async def test_an_abstention_in_one_order_leaves_no_preference(store: ObjectStore) -> None:
    answers = iter(["insufficient_evidence", "segment_1"])
    bench = Bench(store, reply=lambda shown: next(answers))
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert bench.stored().soft is None
    assert bench.results == ["unanswered"]


@pytest.mark.parametrize(
    ("other", "segment_id"), [(0.7, "seg-2"), (None, "seg-2"), (0.5, "other-1")]
)
async def test_far_apart_unscored_or_equal_evidence_is_not_compared(
    store: ObjectStore, other: float | None, segment_id: str
) -> None:
    bench = Bench(store)
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score(segment_id, other, rupees=5)
    assert bench.fake.shown == []


async def test_an_outage_costs_the_comparison_and_nothing_else(store: ObjectStore) -> None:
    def down(shown: dict[str, Any]) -> str:
        raise UnavailableError("down")

    bench = Bench(store, reply=down)
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert list(store.list(keys.comparisons())) == []
    assert bench.results == ["outage"]


def test_the_share_that_is_compared_depends_on_the_segment_alone() -> None:
    chosen = sum(in_share("compare", f"seg-{at}", 0.1) for at in range(2000))
    assert 140 < chosen < 260
    assert not any(in_share("compare", f"seg-{at}", 0.0) for at in range(100))


@pytest.mark.parametrize(
    ("one", "other", "soft"),
    [
        ("first", "first", 1.0),
        ("second", "second", 0.0),
        ("tie", "tie", 0.5),
        ("first", "second", 0.5),
        ("first", "tie", 0.5),
        ("first", None, None),
    ],
)
def test_a_preference_needs_both_orders(one: Any, other: Any, soft: float | None) -> None:
    assert soft_preference(one, other) == soft


def test_turning_a_pair_turns_its_preference() -> None:
    assert [turned(p) for p in ("first", "second", "tie", None)] == [
        "second",
        "first",
        "tie",
        None,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "segment_1",
        "[]",
        '{"better": "segment_1"}',
        '{"rationale": "x", "better": 1}',
        '{"rationale": "x", "better": ["segment_1"]}',
        '{"rationale": 7, "better": "tie"}',
        '{"rationale": "x", "better": "segment_3"}',
        '{"rationale": "x", "better": "tie", "sure": true}',
    ],
)
def test_an_answer_that_does_not_fit_is_no_preference(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read_comparison(text)


def test_the_frozen_part_of_a_comparison_does_not_depend_on_the_segments() -> None:
    heads = {
        comparison_messages(PUZZLE, Evidence(segment=Span(steps=n)), Evidence())[0]["content"]
        for n in range(3)
    }
    assert len(heads) == 1
