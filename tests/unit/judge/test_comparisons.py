import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.judging.comparisons import (
    ComparisonRecord,
    WantedComparisons,
    WantedPair,
    soft_preference,
)
from rlaif.contracts.judging.evidence import Changes, Evidence, Moment
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.guides.guides import guide_of
from rlaif.judge.pairs.choice import RequestedPairs, Scored
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

    async def score(
        self, segment_id: str, weighted: float | None, rupees: int, game: str | None = None
    ) -> None:
        """A segment of which nothing is stored was just scored."""
        evidence = Evidence(changes=Changes(rupees=rupees), end=Moment(game=game))
        record = _record(segment_id, weighted)
        await self.comparisons.after_scoring(Scored(evidence, record, "a" * 64))

    async def score_stored(self, segment_id: str) -> None:
        """A segment that lies in the store, with its score, was just scored."""
        await self.comparisons.after_scoring(self.comparisons.read(segment_id))

    def stored(self) -> ComparisonRecord:
        (info,) = self.store.list(keys.comparisons())
        return ComparisonRecord.model_validate_json(self.store.get(info.key))


def _record(segment_id: str, weighted: float | None) -> ScoreRecord:
    digest = segment_id[-1] * 64
    return score_record(segment_id=segment_id, weighted=weighted, evidence_sha256=digest)


def _write_scored(store: ObjectStore, segment_id: str, *, rupees: int, **changes: Any) -> None:
    """Export and score a segment in which so many rupees were gained."""
    states = [described_state(step, rupees=10 + rupees * (step > 40)) for step in range(75)]
    event = write_segment(store, segment_id, states=states, pictures=6)
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


async def test_a_near_tie_is_asked_in_both_orders_and_stored_once(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.score("seg-2", 0.50, rupees=1)
    await bench.score("seg-1", 0.52, rupees=5)
    record = bench.stored()
    assert (record.first, record.second, record.soft) == ("seg-1", "seg-2", 1.0)
    assert (record.first_shown_first, record.second_shown_first) == ("first", "first")
    assert record.why == "near_tie"
    shown_first = [shown["segment_1"]["changes"]["rupees"] for shown in bench.text.shown]
    assert sorted(shown_first) == [1, 5]
    assert (bench.results, bench.calls, len(record.calls)) == ([("near_tie", "decided")], 2, 2)


async def test_a_judge_that_follows_the_place_gives_a_tie(store: ObjectStore) -> None:
    bench = Bench(store, reply=lambda shown: "segment_1")
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert bench.stored().soft == 0.5
    assert bench.results == [("near_tie", "orders_disagree")]


async def test_an_abstention_in_one_order_leaves_no_preference(store: ObjectStore) -> None:
    answers = iter(["insufficient_evidence", "segment_1"])
    bench = Bench(store, reply=lambda shown: next(answers))
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert bench.stored().soft is None
    assert bench.results == [("near_tie", "unanswered")]


@pytest.mark.parametrize(
    ("other", "segment_id"), [(0.7, "seg-2"), (None, "seg-2"), (0.5, "other-1")]
)
async def test_far_apart_unscored_or_equal_evidence_is_not_compared(
    store: ObjectStore, other: float | None, segment_id: str
) -> None:
    bench = Bench(store)
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score(segment_id, other, rupees=5)
    assert bench.text.shown == []


async def test_an_outage_costs_the_comparison_and_nothing_else(store: ObjectStore) -> None:
    def down(shown: dict[str, Any]) -> str:
        raise UnavailableError("down")

    bench = Bench(store, reply=down)
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert list(store.list(keys.comparisons())) == []
    assert bench.results == [("near_tie", "outage")]


async def test_a_wanted_pair_that_others_scored_long_ago_is_read_back_and_compared(
    store: ObjectStore,
) -> None:
    _write_scored(store, "seg-1", rupees=1)
    _write_scored(store, "seg-2", rupees=5)
    _want(store, ("seg-1", "seg-2"))
    bench = Bench(store)
    await bench.score("seg-9", 0.5, rupees=0)
    record = bench.stored()
    assert (record.first, record.second, record.why, record.soft) == (
        "seg-1",
        "seg-2",
        "uncertain",
        0.0,
    )
    digests = [bench.comparisons.read(name).sha256 for name in ("seg-1", "seg-2")]
    assert [record.first_score_sha256, record.second_score_sha256] == digests


async def test_a_wanted_pair_that_cannot_be_read_costs_its_turn_only(store: ObjectStore) -> None:
    _want(store, ("seg-1", "seg-2"))
    store.put(keys.score(CONFIG, "seg-1"), b"{}")
    bench = Bench(store)
    await bench.score("seg-8", 0.5, rupees=0)
    await bench.score("seg-9", 0.5, rupees=1)
    assert bench.results == [("uncertain", "unreadable"), ("near_tie", "decided")]


async def test_a_wanted_pair_waits_for_scores_that_will_be_made_again(store: ObjectStore) -> None:
    _write_scored(store, "seg-1", rupees=1)
    _write_scored(store, "seg-2", rupees=5, distrusted=("state",))
    _want(store, ("seg-1", "seg-2"))
    bench = Bench(store)
    await bench.score("seg-9", 0.5, rupees=0)
    assert (bench.results, bench.calls) == ([("uncertain", "provisional")], 0)


async def test_the_kinds_take_turns_and_none_waits_for_one_that_finds_nothing(
    store: ObjectStore,
) -> None:
    for at in range(5):
        _write_scored(store, f"seg-{at}", rupees=at, truth={"novelty": 0})
    _want(store, ("seg-0", "seg-1"), ("seg-0", "seg-2"))
    bench = Bench(store)
    for at in range(5):
        await bench.score_stored(f"seg-{at}")
    # The first segment has no partner yet, so its turn goes to the next kind that has a pair.
    assert [why for why, _ in bench.results] == [
        "uncertain",
        "near_tie",
        "uncertain",
        "near_tie",
        "near_tie",
    ]


async def test_a_judge_that_is_not_believed_compares_nothing(store: ObjectStore) -> None:
    bench = Bench(store, distrusted=frozenset({"puzzle"}))
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert bench.calls == 0


async def test_a_pair_too_long_for_the_judges_model_is_not_asked(store: ObjectStore) -> None:
    bench = Bench(store)
    bench.comparisons._judge.judge = replace(PUZZLE, context_tokens=512)
    await bench.score("seg-1", 0.5, rupees=1)
    await bench.score("seg-2", 0.5, rupees=5)
    assert (bench.results, bench.calls) == ([("near_tie", "too_long")], 0)


async def test_the_judge_reads_the_guide_of_the_game_that_both_segments_are_of(
    store: ObjectStore,
) -> None:
    bench = Bench(store)
    await bench.score("seg-1", 0.5, rupees=1, game="seedling-vale")
    await bench.score("seg-2", 0.5, rupees=5, game="seedling-vale")
    heads = {request.messages[0]["content"] for request in bench.text.requests}
    assert len(heads) == 1
    assert guide_of("seedling-vale").text in heads.pop()


async def test_segments_of_two_games_are_not_compared(store: ObjectStore) -> None:
    bench = Bench(store)
    await bench.score("seg-1", 0.5, rupees=1, game="seedling-vale")
    await bench.score("seg-2", 0.5, rupees=5, game="oracle-of-seasons")
    assert (bench.results, bench.calls) == ([("near_tie", "two_games")], 0)


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
