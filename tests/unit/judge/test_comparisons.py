import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.game.names import ORACLE_OF_SEASONS, SEEDLING_VALE
from rlaif.contracts.judging.comparisons import (
    ComparisonRecord,
    WantedComparisons,
    WantedPair,
    soft_preference,
)
from rlaif.guides.guides import guide_of
from rlaif.judge.pairs.choice import RequestedPairs
from rlaif.judge.pairs.comparisons import Comparisons
from rlaif.judge.pairs.pair_judge import PairJudge, read_comparison, turned
from rlaif.judge.panel.schema import InvalidAnswerError
from rlaif.judge.rubric.judges import JUDGES
from rlaif.llm.ports import Answer, CompletionRequest, UnavailableError
from rlaif.llm.route import Route, RouteLimits
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.data.judging.segments import described_state, write_segment

Reply = Callable[[dict[str, Any]], str]
_, PUZZLE, _ = JUDGES
CONFIG = "config-1"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _by_rupees(shown: dict[str, Any]) -> str:
    """A judge that looks at the rupees gained and not at the place."""
    one, other = (shown[name]["changes"]["rupees"] for name in ("segment_1", "segment_2"))
    return "tie" if one == other else "segment_1" if one > other else "segment_2"


class Fake:
    """A language model with an opinion; remembers what it was shown."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.requests: list[CompletionRequest] = []
        self.shown: list[dict[str, Any]] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        content = request.messages[1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        shown = json.loads(text.split("```json\n")[1].split("\n```")[0])
        self.requests.append(request)
        self.shown.append(shown)
        return Answer(json.dumps({"rationale": "because", "better": self.reply(shown)}))


class Bench:
    """Comparisons over one store for both buckets."""

    def __init__(
        self,
        store: ObjectStore,
        reply: Reply = _by_rupees,
        *,
        share: float = 1.0,
        distrusted: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.text = Fake(reply)
        self.results: list[tuple[str, str]] = []
        self.calls = 0
        self.comparisons = Comparisons(
            store,
            CONFIG,
            self._judge(PUZZLE, self.text),
            RequestedPairs(store, store, CONFIG),
            share=share,
            on_compared=lambda why, result, record: self.results.append((why, result)),
            excluded=lambda: distrusted,
        )

    def _judge(self, judge: Any, fake: Fake) -> PairJudge:
        route = Route(judge.route, fake, RouteLimits(attempts=1))
        return PairJudge(judge, route, max_tokens=256, on_call=self._called, now=lambda: NOW)

    def _called(self, record: Any) -> None:
        self.calls += 1

    async def compare(self, one: int = 1, other: int = 5, **changes: Any) -> None:
        """Compare seg-1 and seg-2, in which so many rupees were gained, after another segment."""
        _write_scored(self.store, "seg-1", rupees=one)
        _write_scored(self.store, "seg-2", rupees=other, **changes)
        _want(self.store, ("seg-1", "seg-2"))
        await self.comparisons.after_scoring("seg-9")

    def stored(self) -> ComparisonRecord:
        (info,) = self.store.list(keys.comparisons())
        return ComparisonRecord.model_validate_json(self.store.get(info.key))


def _write_scored(
    store: ObjectStore, segment_id: str, *, rupees: int, game: str = SEEDLING_VALE, **changes: Any
) -> None:
    """Export and score a segment in which so many rupees were gained."""
    states = [
        described_state(step, rupees=10 + rupees * (step > 40), game=game) for step in range(75)
    ]
    event = write_segment(store, segment_id, states=states)
    record = score_record(
        segment_id=segment_id,
        episode_id="ep-1",
        manifest_key=event.manifest_key,
        manifest_sha256=event.manifest_sha256,
        evidence_sha256=segment_id[-1] * 64,
        **changes,
    )
    store.put(keys.score(CONFIG, segment_id), record.model_dump_json().encode())


def _want(store: ObjectStore, *pairs: tuple[str, str], config: str = CONFIG) -> None:
    wanted = WantedComparisons(
        judge_config=config,
        pairs=tuple(WantedPair(first=a, second=b, uncertainty=1.0) for a, b in pairs),
        created_at=NOW,
    )
    store.put(keys.WANTED_COMPARISONS, wanted.model_dump_json().encode())


async def test_a_pair_is_asked_in_both_orders_and_stored_once(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.compare(5, 1)
    record = bench.stored()
    assert (record.first, record.second, record.soft) == ("seg-1", "seg-2", 1.0)
    assert (record.first_shown_first, record.second_shown_first) == ("first", "first")
    assert record.why == "uncertain"
    shown_first = [shown["segment_1"]["changes"]["rupees"] for shown in bench.text.shown]
    assert sorted(shown_first) == [1, 5]
    assert (bench.results, bench.calls, len(record.calls)) == ([("uncertain", "decided")], 2, 2)
    digests = [bench.comparisons.read(name).sha256 for name in ("seg-1", "seg-2")]
    assert [record.first_score_sha256, record.second_score_sha256] == digests


async def test_a_judge_that_follows_the_place_gives_a_tie(store: ObjectStore) -> None:
    bench = Bench(store, reply=lambda shown: "segment_1")
    await bench.compare()
    assert bench.stored().soft == 0.5
    assert bench.results == [("uncertain", "orders_disagree")]


async def test_an_abstention_in_one_order_leaves_no_preference(store: ObjectStore) -> None:
    answers = iter(["insufficient_evidence", "segment_1"])
    bench = Bench(store, reply=lambda shown: next(answers))
    await bench.compare()
    assert bench.stored().soft is None
    assert bench.results == [("uncertain", "unanswered")]


async def test_without_requests_or_outside_of_the_share_nothing_is_compared(
    store: ObjectStore,
) -> None:
    bench, none = Bench(store), Bench(store, share=0.0)
    await bench.comparisons.after_scoring("seg-9")
    await none.compare()
    assert bench.results == none.results == []


async def test_an_outage_costs_the_comparison_and_nothing_else(store: ObjectStore) -> None:
    def down(shown: dict[str, Any]) -> str:
        raise UnavailableError("down")

    bench = Bench(store, reply=down)
    await bench.compare()
    assert list(store.list(keys.comparisons())) == []
    assert bench.results == [("uncertain", "outage")]


async def test_a_pair_that_cannot_be_read_costs_its_turn_only(store: ObjectStore) -> None:
    _write_scored(store, "seg-1", rupees=1)
    _write_scored(store, "seg-3", rupees=5)
    store.put(keys.score(CONFIG, "seg-2"), b"{}")
    _want(store, ("seg-1", "seg-2"), ("seg-1", "seg-3"))
    bench = Bench(store)
    for name in ("seg-8", "seg-9"):
        await bench.comparisons.after_scoring(name)
    assert sorted(bench.results) == [("uncertain", "decided"), ("uncertain", "unreadable")]


async def test_a_pair_waits_for_scores_that_will_be_made_again(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.compare(distrusted=("state",))
    assert (bench.results, bench.calls) == ([("uncertain", "provisional")], 0)


async def test_a_judge_that_is_not_believed_compares_nothing(store: ObjectStore) -> None:
    bench = Bench(store, distrusted=frozenset({"puzzle"}))
    await bench.compare()
    assert bench.calls == 0


async def test_a_pair_too_long_for_the_judges_model_is_not_asked(store: ObjectStore) -> None:
    bench = Bench(store)
    bench.comparisons._judge.judge = replace(PUZZLE, context_tokens=512)
    await bench.compare()
    assert (bench.results, bench.calls) == ([("uncertain", "too_long")], 0)


async def test_the_judge_reads_the_guide_of_the_game_that_both_segments_are_of(
    store: ObjectStore,
) -> None:
    bench = Bench(store)
    await bench.compare()
    heads = {request.messages[0]["content"] for request in bench.text.requests}
    assert len(heads) == 1
    assert guide_of(SEEDLING_VALE).text in heads.pop()


async def test_segments_of_two_games_are_not_compared(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.compare(game=ORACLE_OF_SEASONS)
    assert (bench.results, bench.calls) == ([("uncertain", "two_games")], 0)


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
        '{"rationale": "x", "better": "tie"} {"rationale": "x", "better": "segment_1"}',
    ],
)
def test_an_answer_that_does_not_fit_is_no_preference(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read_comparison(text)
