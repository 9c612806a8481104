"""Scores that lack a judge whose answers could not be parsed are replaced later."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.bus.outcome import Retry
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import SegmentExported, SegmentScored
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.calls import OnCall
from rlaif.judge.panel.panel import Case, PanelResult
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.scoring.handler import SegmentHandler
from rlaif.judge.scoring.judging import ScoringRules, SegmentJudge
from rlaif.judge.scoring.provisional import ProvisionalScores
from rlaif.judge.scoring.scores import Scores
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.ports import UnavailableError
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Panel:
    """Gives a progress of this level, unless answers of the state judge are unreadable."""

    def __init__(self) -> None:
        self.unreadable: frozenset[str] = frozenset()
        self.loses_answers = False
        self.level = 2
        self.fails_at = 0
        self.on_case: Callable[[], None] = lambda: None
        self.cases = 0

    async def judge(self, case: Case, on_call: OnCall) -> PanelResult:
        self.cases += 1
        self.on_case()
        if self.cases == self.fails_at:
            raise UnavailableError("down")
        if self.unreadable:
            return PanelResult({"progress": NoVote.ROUTE_UNREADABLE}, unread=("state",))
        if self.loses_answers:
            return PanelResult({"progress": NoVote.INVALID}, unread=("state",))
        value = self.level / 2
        score = CriterionScore(value=value, votes=(self.level,) * 3, agreement=1.0, judge="state")
        return PanelResult({"progress": score})


class Silent:
    async def send(self, reading: object) -> None:
        pass


class Bench:
    """One replica; others may work on the same store."""

    def __init__(self, store: ObjectStore, segments: Any) -> None:
        self.store, self.segments = store, segments
        self.panel, self.publisher = Panel(), RecordingPublisher()
        self.now = NOW
        self.budget: TokenBudget | None = None
        self.metrics = ServiceMetrics("judge")
        self.scorer = self.started()

    def started(self) -> SegmentHandler:
        """A new process."""
        rules = ScoringRules("jtest", RUBRIC_WEIGHTS, JUDGES)
        provisional = ProvisionalScores(
            self.store, "jtest", unreadable=lambda: self.panel.unreadable, now=lambda: self.now
        )
        panel: Any = self.panel
        silent: Any = Silent()
        metrics = JudgeMetrics(self.metrics)
        judge = SegmentJudge(self.store, silent, panel, rules, metrics, now=lambda: self.now)
        scores = Scores(self.store, self.publisher, "jtest")
        return SegmentHandler(
            self.store, judge, scores, metrics, provisional=provisional, budget=self.budget
        )

    async def play(self, name: str) -> None:
        exported: SegmentExported = self.segments.write_segment(self.store, name)
        await self.scorer.handle_segment_exported(envelop(exported, source="test", time=NOW))
        self.now += timedelta(minutes=1)

    def score(self, name: str) -> ScoreRecord:
        return ScoreRecord.model_validate_json(self.store.get(keys.score("jtest", name)))

    @property
    def notes(self) -> list[str]:
        return [info.key for info in self.store.list(keys.rejudge("jtest"))]


@pytest.fixture
def bench(store: ObjectStore, segments: Any) -> Bench:
    return Bench(store, segments)


async def _scored_provisionally(bench: Bench, *names: str) -> None:
    bench.panel.unreadable = frozenset({"state"})
    for name in names:
        await bench.play(name)
    assert all(bench.score(name).distrusted == ("state",) for name in names)


async def test_a_provisional_score_is_replaced_once_the_answers_can_be_parsed(
    bench: Bench,
) -> None:
    await _scored_provisionally(bench, "seg-1")
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
    bench.panel.unreadable = frozenset()
    await bench.play("seg-2")
    again = bench.score("seg-1")
    assert again.distrusted == ()
    assert again.criteria["progress"].value == 1.0
    assert bench.notes == []
    told = bench.publisher.published[-1]
    assert isinstance(told, SegmentScored)
    data = bench.store.get(told.score_key)
    assert (told.segment_id, told.score_sha256) == ("seg-1", hashlib.sha256(data).hexdigest())
    assert bench.store.get(keys.rejudged("jtest", "seg-1")) == data


async def test_a_segment_whose_answers_cannot_be_read_is_scored_again_exactly_once(
    bench: Bench,
) -> None:
    bench.panel.loses_answers = True
    await bench.play("seg-1")
    assert bench.score("seg-1").distrusted == ("state",)
    await bench.play("seg-2")
    assert bench.panel.cases == 3, "seg-1 was scored again, and seg-2 for the first time"
    assert bench.score("seg-1").distrusted == ()
    assert bench.score("seg-2").distrusted == ("state",)
    await bench.play("seg-3")
    assert bench.notes == [keys.rejudge("jtest", "seg-3")]
    assert bench.panel.cases == 5


async def test_nothing_is_judged_again_while_answers_cannot_be_parsed(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1", "seg-2", "seg-3")
    assert bench.panel.cases == 3
    assert len(bench.notes) == 3


async def test_one_old_segment_for_each_new_one(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1", "seg-2", "seg-3")
    bench.panel.unreadable = frozenset()
    await bench.play("seg-4")
    assert len(bench.notes) == 2
    await bench.play("seg-5")
    await bench.play("seg-6")
    assert bench.notes == []


async def test_whoever_commits_the_second_score_first_has_the_word_for_all(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    committed = bench.score("seg-1").model_copy(update={"distrusted": (), "note": "the other's"})
    data = committed.model_dump_json().encode()
    bench.store.put(keys.rejudged("jtest", "seg-1"), data)
    await bench.play("seg-2")
    assert bench.store.get(keys.score("jtest", "seg-1")) == data


async def test_a_crash_between_the_two_writes_is_made_good(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()

    class Broken(Exception):
        pass

    put = bench.store.put

    def crash(key: str, data: bytes, **options: Any) -> None:
        if key.startswith(keys.scores()):
            raise Broken
        put(key, data, **options)

    bench.store.put = crash  # type: ignore[method-assign]  # the process dies here
    with pytest.raises(Broken):
        await bench.play("seg-2")
    bench.store.put = put  # type: ignore[method-assign]  # and starts again
    bench.scorer = bench.started()
    first = bench.store.get(keys.rejudged("jtest", "seg-1"))
    bench.panel.level = 0
    await bench.play("seg-3")
    assert bench.store.get(keys.score("jtest", "seg-1")) == first
    assert bench.score("seg-1").criteria["progress"].value == 1.0


async def test_an_outage_leaves_it_for_later_and_harms_no_event(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    bench.panel.fails_at = 3
    await bench.play("seg-2")
    assert bench.score("seg-2").distrusted == ()
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
    await bench.play("seg-3")
    assert bench.notes == []


async def test_a_note_without_use_is_dropped(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    final = bench.score("seg-1").model_copy(update={"distrusted": ()})
    bench.store.put(keys.score("jtest", "seg-1"), final.model_dump_json().encode())
    bench.store.put(keys.rejudge("jtest", "seg-9"), b"junk")
    await bench.play("seg-2")
    assert bench.notes == []
    assert bench.panel.cases == 2


async def test_a_segment_that_is_gone_is_given_up(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.store.delete_many([info.key for info in bench.store.list("ep-1/seg-1/")])
    bench.panel.unreadable = frozenset()
    await bench.play("seg-2")
    assert bench.notes == []
    assert bench.score("seg-1").distrusted == ("state",)


async def test_notes_of_a_judge_that_never_recovers_do_not_pile_up(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.now = datetime.now(UTC) + timedelta(days=8)
    await bench.play("seg-2")
    assert keys.rejudge("jtest", "seg-1") not in bench.notes


async def test_when_the_budget_is_spent_segments_wait_and_none_is_dropped(
    store: ObjectStore, segments: Any
) -> None:
    bench = Bench(store, segments)
    bench.budget = TokenBudget(100, replica="one", now=lambda: bench.now)
    bench.scorer = bench.started()
    await bench.play("seg-1")
    bench.budget.spend(100)
    with pytest.raises(Retry, match="100 of 100 tokens") as raised:
        await bench.play("seg-2")
    assert raised.value.after == timedelta(seconds=30)
    assert bench.panel.cases == 1
    await bench.play("seg-1")  # a stored score is published again nevertheless
    bench.now += timedelta(days=1)
    await bench.play("seg-2")
    assert bench.panel.cases == 2


async def test_what_no_event_waits_for_spends_nothing_beyond_the_budget(
    store: ObjectStore, segments: Any
) -> None:
    bench = Bench(store, segments)
    budget = bench.budget = TokenBudget(100, replica="one", now=lambda: bench.now)
    bench.scorer = bench.started()
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    bench.panel.on_case = lambda: budget.spend(100)
    await bench.play("seg-2")
    assert bench.panel.cases == 2
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
