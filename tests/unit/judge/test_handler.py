import asyncio
import hashlib
import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, SegmentExported, SegmentScored
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord
from rlaif.contracts.telemetry.readings import JudgeCall, Telemetry
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.calls import OnCall
from rlaif.judge.panel.panel import Case, PanelResult
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.rubric.votes import NoVote, certain
from rlaif.judge.scoring.handler import SegmentHandler
from rlaif.judge.scoring.judging import ScoringRules, SegmentJudge
from rlaif.judge.scoring.provisional import ProvisionalScores
from rlaif.judge.scoring.scores import Scores
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.ports import ThrottledError, UnavailableError
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.testing.crashing import Crash, crashing
from rlaif.testing.data.judging.scores import judge_call
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RULES = ScoringRules("jtest", RUBRIC_WEIGHTS, JUDGES)
SCORE_KEY = keys.score("jtest", "seg-1")
CALL = judge_call(rationale="walked on")


class FakePanel:
    """Returns set results, or raises a set error.

    Attributes:
        cases: The cases of all rounds.
        gate: A round ends once it is open.
        unreadable: Judges whose routes are unreadable.
        loses_answers: Whether the state judge's answers cannot be parsed.
        fails_at: Number of the round that ends in an outage.
    """

    def __init__(self, **results: CriterionScore | NoVote) -> None:
        self.results = results
        self.quest: QuestProgress | None = None
        self.distrusted: tuple[str, ...] = ()
        self.error: Exception | None = None
        self.cases: list[Case] = []
        self.gate: asyncio.Event | None = None
        self.started = asyncio.Event()
        self.unreadable: frozenset[str] = frozenset()
        self.loses_answers = False
        self.fails_at = 0
        self.on_case: Callable[[], None] = lambda: None

    async def judge(self, case: Case, called: OnCall) -> PanelResult:
        self.cases.append(case)
        self.started.set()
        self.on_case()
        await called(CALL)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        if len(self.cases) == self.fails_at:
            raise UnavailableError("down")
        if self.unreadable or self.loses_answers:
            lost = NoVote.ROUTE_UNREADABLE if self.unreadable else NoVote.INVALID
            return PanelResult({"progress": lost}, unread=("state",))
        return PanelResult(self.results, quest=self.quest, unread=self.distrusted)


class FakeTelemetry:
    def __init__(self) -> None:
        self.readings: list[Telemetry] = []

    async def send(self, reading: Telemetry) -> None:
        self.readings.append(reading)

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        raise AssertionError("the judge sends readings only")


def _score(value: float) -> CriterionScore:
    return CriterionScore(value=value, votes=(int(value * 2),) * 3, agreement=1.0, judge="state")


def _event(data: SegmentExported) -> CloudEvent[SegmentExported]:
    return envelop(data, source="rlaif/exporter", time=NOW)


class Bench:
    """One replica; others may use the same store."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.panel = FakePanel(
            progress=_score(1.0),
            dialog=NoVote.INSUFFICIENT,
            efficiency=_score(0.5),
            puzzle=NoVote.INVALID,
            novelty=_score(0.0),
        )
        self.publisher, self.telemetry = RecordingPublisher(), FakeTelemetry()
        self.metrics = ServiceMetrics("judge")
        self.now = NOW
        self.budget: TokenBudget | None = None
        self.scorer = self.build(store)

    def build(self, store: ObjectStore) -> SegmentHandler:
        """A new process."""
        metrics = JudgeMetrics(self.metrics)
        panel: Any = self.panel
        judge = SegmentJudge(store, self.telemetry, panel, RULES, metrics, now=lambda: self.now)
        scores = Scores(store, self.publisher, "jtest")
        provisional = ProvisionalScores(
            store, "jtest", unreadable=lambda: self.panel.unreadable, now=lambda: self.now
        )
        return SegmentHandler(
            store, judge, scores, metrics, provisional=provisional, budget=self.budget
        )

    async def play(self, name: str) -> None:
        """A segment is exported and handled; a minute passes."""
        await self.scorer.handle_segment_exported(_event(write_segment(self.store, name)))
        self.now += timedelta(minutes=1)

    def metric(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"rlaif_judge_{name}", labels)

    def stored(self, name: str = "seg-1") -> ScoreRecord:
        return ScoreRecord.model_validate_json(self.store.get(keys.score("jtest", name)))

    @property
    def notes(self) -> list[str]:
        return [info.key for info in self.store.list(keys.rejudge("jtest"))]


@pytest.fixture
def bench(store: ObjectStore) -> Bench:
    return Bench(store)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_write_costs_one_round_of_calls_and_never_a_second_score(
    bench: Bench, after: bool
) -> None:
    for write in itertools.count():
        name, asked = f"seg-{write}", len(bench.panel.cases)
        event = _event(write_segment(bench.store, name))
        bench.publisher.published.clear()
        try:
            crashed = bench.build(crashing(bench.store, write, after=after))
            await crashed.handle_segment_exported(event)
        except Crash:
            assert bench.publisher.published == []
        else:
            break
        before = bench.store.get(keys.score("jtest", name)) if after else None
        await bench.build(bench.store).handle_segment_exported(event)
        data = bench.store.get(keys.score("jtest", name))
        assert before in (None, data)
        (reported,) = bench.publisher.published
        assert isinstance(reported, SegmentScored)
        assert reported.score_sha256 == hashlib.sha256(data).hexdigest()
        assert len(bench.panel.cases) - asked == (1 if after else 2)
    assert write == 1, "a score is one write"


async def test_a_segment_is_scored_stored_and_published(bench: Bench) -> None:
    event = _event(write_segment(bench.store))
    await bench.scorer.handle_segment_exported(event)
    record = bench.stored()
    assert record.weighted == pytest.approx((0.4 * 1 + 0.1 * 0.5 + 0) / 0.6)
    assert record.abstentions == {"dialog": "insufficient_evidence", "puzzle": "invalid_answers"}
    assert set(record.criteria) == {"progress", "efficiency", "novelty"}
    assert record.calls == (CALL,)
    assert record.env_step == 123456
    assert bench.publisher.published == [
        SegmentScored(
            segment_id="seg-1",
            episode_id="ep-1",
            run_id="run-1",
            judge_config="jtest",
            score_key=SCORE_KEY,
            score_sha256=hashlib.sha256(bench.store.get(SCORE_KEY)).hexdigest(),
            weighted=record.weighted,
            abstained=("dialog", "puzzle"),
            agreement=record.votes_agreement,
        )
    ]


async def test_a_score_has_the_quest_the_excluded_judges_and_the_shares_of_sources(
    bench: Bench,
) -> None:
    near, there = QuestPosition(objective=2, distance=4), QuestPosition(objective=2, distance=0)
    bench.panel.quest = QuestProgress(
        start=near, end=there, objectives=18, votes=3, agreement=1.0, judge="state"
    )
    bench.panel.distrusted = ("puzzle",)
    bench.panel.results["novelty"] = certain(0)
    await bench.scorer.handle_segment_exported(_event(write_segment(bench.store)))
    record = bench.stored()
    assert record.quest == bench.panel.quest
    (scored,) = bench.publisher.published
    assert isinstance(scored, SegmentScored)
    assert scored.position == there.position
    assert record.distrusted == ("puzzle",)
    shares = {"votes": pytest.approx(5 / 6), "computed": pytest.approx(1 / 6)}
    assert record.decided_by == shares
    assert json.loads(bench.store.get(SCORE_KEY))["decided_by"] == shares
    assert bench.metric("judged_share_ratio") == pytest.approx(5 / 6)
    assert bench.metric("quests_total", result="closer") == 1


async def test_every_call_is_sent_as_telemetry_and_counted(bench: Bench) -> None:
    await bench.scorer.handle_segment_exported(_event(write_segment(bench.store)))
    (reading,) = bench.telemetry.readings
    assert isinstance(reading, JudgeCall)
    assert (reading.segment_id, reading.judge, reading.outcome) == ("seg-1", "state", "ok")
    assert reading.rationale == "walked on"
    assert bench.metric("calls_total", judge="state", outcome="ok") == 1
    assert bench.metric("abstentions_total", criterion="puzzle", reason="invalid_answers") == 1


async def test_the_panel_sees_neither_ids_nor_steps_of_the_run(bench: Bench) -> None:
    await bench.scorer.handle_segment_exported(_event(write_segment(bench.store)))
    text = bench.panel.cases[0].evidence.model_dump_json()
    assert all(word not in text for word in ("seg-1", "ep-1", "run-1", "123456", "900"))
    assert bench.panel.cases[0].strip is not None


async def test_duplicates_at_the_same_time_are_judged_once(bench: Bench) -> None:
    event = _event(write_segment(bench.store))
    bench.panel.gate = asyncio.Event()
    tasks = [asyncio.create_task(bench.scorer.handle_segment_exported(event)) for _ in range(3)]
    await bench.panel.started.wait()
    bench.panel.gate.set()
    await asyncio.gather(*tasks)
    assert len(bench.panel.cases) == 1
    assert len({event.model_dump_json() for event in bench.publisher.published}) == 1


class BeatenStore:
    """Another judge commits first: put_once loses, and the winner's object is there."""

    def __init__(self, store: ObjectStore, winner: bytes) -> None:
        self._store = store
        self._winner = winner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def put_once(self, key: str, data: bytes, **options: Any) -> bool:
        self._store.put(key, self._winner)
        return False


async def test_the_event_describes_the_stored_object_of_another_replica(
    bench: Bench,
) -> None:
    event = _event(write_segment(bench.store))
    await bench.scorer.handle_segment_exported(event)
    winner = bench.stored().model_copy(update={"weighted": 0.125})
    data = winner.model_dump_json().encode()
    bench.store.delete_many([SCORE_KEY])
    await bench.build(BeatenStore(bench.store, data)).handle_segment_exported(event)
    reported = bench.publisher.published[-1]
    assert isinstance(reported, SegmentScored)
    assert reported.weighted == 0.125
    assert reported.score_sha256 == hashlib.sha256(data).hexdigest()


async def test_an_outage_commits_nothing_and_asks_for_the_pause_of_the_server(bench: Bench) -> None:
    bench.panel.error = ThrottledError("slow down", 7.0)
    with pytest.raises(Retry) as raised:
        await bench.scorer.handle_segment_exported(_event(write_segment(bench.store)))
    assert raised.value.after == timedelta(seconds=7)
    assert list(bench.store.list(keys.scores())) == []
    assert bench.publisher.published == []


async def test_an_unavailable_store_is_a_retry(bench: Bench) -> None:
    class Away(BeatenStore):
        def get(self, key: str, max_bytes: int | None = None) -> bytes:
            raise StoreUnavailableError("S3 is away")

    event = _event(write_segment(bench.store))
    with pytest.raises(Retry, match="S3 is away"):
        await bench.build(Away(bench.store, b"")).handle_segment_exported(event)


async def test_an_unavailable_bus_keeps_the_score_and_retries_the_event(bench: Bench) -> None:
    event = _event(write_segment(bench.store))
    bench.publisher.error = BusUnavailableError("NATS is away")
    with pytest.raises(Retry, match="NATS is away"):
        await bench.scorer.handle_segment_exported(event)
    bench.publisher.error = None
    await bench.scorer.handle_segment_exported(event)
    assert len(bench.panel.cases) == 1
    assert len(bench.publisher.published) == 1


async def test_an_event_of_another_segment_is_rejected(bench: Bench) -> None:
    data = write_segment(bench.store).model_copy(update={"segment_id": "seg-9"})
    with pytest.raises(Reject, match="of segment seg-9 describes another one"):
        await bench.scorer.handle_segment_exported(_event(data))


async def test_a_missing_manifest_is_suspect_so_that_attempts_are_counted(bench: Bench) -> None:
    data = write_segment(bench.store, leave_out="manifest.json")
    with pytest.raises(Suspect, match="missing_object"):
        await bench.scorer.handle_segment_exported(_event(data))


async def test_a_stored_score_that_is_none_is_rejected_with_its_key(bench: Bench) -> None:
    bench.store.put(SCORE_KEY, b"{}")
    with pytest.raises(Reject, match=SCORE_KEY) as raised:
        await bench.scorer.handle_segment_exported(_event(write_segment(bench.store)))
    assert raised.value.reason == "corrupt_score"


# Provisional scores


async def _scored_provisionally(bench: Bench, *names: str) -> None:
    bench.panel.unreadable = frozenset({"state"})
    for name in names:
        await bench.play(name)
    assert all(bench.stored(name).distrusted == ("state",) for name in names)


async def test_a_provisional_score_is_replaced_once_the_answers_can_be_parsed(
    bench: Bench,
) -> None:
    await _scored_provisionally(bench, "seg-1")
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
    bench.panel.unreadable = frozenset()
    await bench.play("seg-2")
    again = bench.stored("seg-1")
    assert again.distrusted == ()
    assert again.criteria["progress"].value == 1.0
    assert bench.notes == []
    reported = bench.publisher.published[-1]
    assert isinstance(reported, SegmentScored)
    data = bench.store.get(reported.score_key)
    assert (reported.segment_id, reported.score_sha256) == (
        "seg-1",
        hashlib.sha256(data).hexdigest(),
    )
    assert bench.store.get(keys.rejudged("jtest", "seg-1")) == data


async def test_a_segment_whose_answers_cannot_be_read_is_scored_again_exactly_once(
    bench: Bench,
) -> None:
    bench.panel.loses_answers = True
    await bench.play("seg-1")
    assert bench.stored("seg-1").distrusted == ("state",)
    await bench.play("seg-2")
    assert len(bench.panel.cases) == 3, "seg-1 was scored again, and seg-2 for the first time"
    assert bench.stored("seg-1").distrusted == ()
    assert bench.stored("seg-2").distrusted == ("state",)
    await bench.play("seg-3")
    assert bench.notes == [keys.rejudge("jtest", "seg-3")]
    assert len(bench.panel.cases) == 5


async def test_one_old_segment_for_each_new_one(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1", "seg-2", "seg-3")
    bench.panel.unreadable = frozenset()
    await bench.play("seg-4")
    assert len(bench.notes) == 2
    await bench.play("seg-5")
    await bench.play("seg-6")
    assert bench.notes == []


async def test_the_first_committed_second_score_counts_for_all_replicas(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    committed = bench.stored("seg-1").model_copy(update={"distrusted": (), "note": "the other's"})
    data = committed.model_dump_json().encode()
    bench.store.put(keys.rejudged("jtest", "seg-1"), data)
    await bench.play("seg-2")
    assert bench.store.get(keys.score("jtest", "seg-1")) == data


async def test_a_crash_between_the_two_writes_is_repaired(bench: Bench) -> None:
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
    bench.scorer = bench.build(bench.store)
    first = bench.store.get(keys.rejudged("jtest", "seg-1"))
    bench.panel.results["progress"] = _score(0.0)
    await bench.play("seg-3")
    assert bench.store.get(keys.score("jtest", "seg-1")) == first
    assert bench.stored("seg-1").criteria["progress"].value == 1.0


async def test_an_outage_postpones_the_replacement_and_harms_no_event(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    bench.panel.fails_at = 3
    await bench.play("seg-2")
    assert bench.stored("seg-2").distrusted == ()
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
    await bench.play("seg-3")
    assert bench.notes == []


async def test_a_note_without_use_is_dropped(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    final = bench.stored("seg-1").model_copy(update={"distrusted": ()})
    bench.store.put(keys.score("jtest", "seg-1"), final.model_dump_json().encode())
    bench.store.put(keys.rejudge("jtest", "seg-9"), b"junk")
    await bench.play("seg-2")
    assert bench.notes == []
    assert len(bench.panel.cases) == 2


async def test_a_segment_that_is_gone_is_given_up(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.store.delete_many([info.key for info in bench.store.list("ep-1/seg-1/")])
    bench.panel.unreadable = frozenset()
    await bench.play("seg-2")
    assert bench.notes == []
    assert bench.stored("seg-1").distrusted == ("state",)


async def test_notes_of_a_judge_that_never_recovers_do_not_pile_up(bench: Bench) -> None:
    await _scored_provisionally(bench, "seg-1")
    bench.now = datetime.now(UTC) + timedelta(days=8)
    await bench.play("seg-2")
    assert keys.rejudge("jtest", "seg-1") not in bench.notes


async def test_when_the_budget_is_spent_segments_wait_and_none_is_dropped(bench: Bench) -> None:
    bench.budget = TokenBudget(100, replica="one", now=lambda: bench.now)
    bench.scorer = bench.build(bench.store)
    await bench.play("seg-1")
    bench.budget.spend(100)
    with pytest.raises(Retry, match="100 of 100 tokens") as raised:
        await bench.play("seg-2")
    assert raised.value.after == timedelta(seconds=30)
    assert len(bench.panel.cases) == 1
    await bench.play("seg-1")  # a stored score is published again nevertheless
    bench.now += timedelta(days=1)
    await bench.play("seg-2")
    assert len(bench.panel.cases) == 2


async def test_what_no_event_waits_for_spends_nothing_beyond_the_budget(bench: Bench) -> None:
    budget = bench.budget = TokenBudget(100, replica="one", now=lambda: bench.now)
    bench.scorer = bench.build(bench.store)
    await _scored_provisionally(bench, "seg-1")
    bench.panel.unreadable = frozenset()
    bench.panel.on_case = lambda: budget.spend(100)
    await bench.play("seg-2")
    assert len(bench.panel.cases) == 2
    assert bench.notes == [keys.rejudge("jtest", "seg-1")]
