import asyncio
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, SegmentExported, SegmentScored
from rlaif.contracts.judging.quest import QuestProgress, Standing
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord
from rlaif.contracts.telemetry.readings import JudgeCall, Telemetry
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.calls import OnCall
from rlaif.judge.panel.panel import Case, PanelResult
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.rubric.votes import NoVote, certain
from rlaif.judge.scoring.handler import SegmentHandler
from rlaif.judge.scoring.judging import ScoringRules, SegmentJudge
from rlaif.judge.scoring.scores import Scores
from rlaif.llm.ports import ThrottledError
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.testing.data.scores import judge_call
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RULES = ScoringRules("jtest", RUBRIC_WEIGHTS, JUDGES)
SCORE_KEY = keys.score("jtest", "seg-1")
CALL = judge_call(rationale="walked on")


class FakePanel:
    """Gives set results, or raises a set error, and counts its rounds."""

    def __init__(self, **results: CriterionScore | NoVote) -> None:
        self.results = results
        self.quest: QuestProgress | None = None
        self.distrusted: tuple[str, ...] = ()
        self.error: Exception | None = None
        self.cases: list[Case] = []
        self.gate: asyncio.Event | None = None
        self.started = asyncio.Event()

    async def judge(self, case: Case, called: OnCall) -> PanelResult:
        self.cases.append(case)
        self.started.set()
        await called(CALL)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
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
        self.scorer = self.build(store)

    def build(self, store: ObjectStore) -> SegmentHandler:
        metrics = JudgeMetrics(self.metrics)
        panel: Any = self.panel
        judge = SegmentJudge(store, self.telemetry, panel, RULES, metrics, now=lambda: NOW)
        return SegmentHandler(store, judge, Scores(store, self.publisher, "jtest"), metrics)

    def metric(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"rlaif_judge_{name}", labels)

    def stored(self) -> ScoreRecord:
        return ScoreRecord.model_validate_json(self.store.get(SCORE_KEY))


@pytest.fixture
def bench(store: ObjectStore) -> Bench:
    return Bench(store)


async def test_a_segment_is_scored_stored_and_told(bench: Bench, segments: Any) -> None:
    event = _event(segments.write_segment(bench.store))
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


async def test_a_score_says_where_the_player_stood_who_was_left_out_and_who_decided_what(
    bench: Bench, segments: Any
) -> None:
    near, there = Standing(objective=2, distance=4), Standing(objective=2, distance=0)
    bench.panel.quest = QuestProgress(
        start=near, end=there, objectives=18, votes=3, agreement=1.0, judge="state"
    )
    bench.panel.distrusted = ("puzzle",)
    bench.panel.results["novelty"] = certain(0)
    await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    record = bench.stored()
    assert record.quest == bench.panel.quest
    assert record.distrusted == ("puzzle",)
    shares = {"votes": pytest.approx(5 / 6), "computed": pytest.approx(1 / 6)}
    assert record.decided_by == shares
    assert json.loads(bench.store.get(SCORE_KEY))["decided_by"] == shares
    assert bench.metric("judged_share_ratio") == pytest.approx(5 / 6)
    assert bench.metric("quests_total", result="closer") == 1


async def test_too_little_of_the_rubric_has_no_weighted_score(bench: Bench, segments: Any) -> None:
    bench.panel.results |= {"progress": NoVote.INSUFFICIENT}
    await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    assert bench.stored().weighted is None
    assert bench.metric("scores_total", result="abstained") == 1


async def test_every_call_is_told_as_telemetry_and_counted(bench: Bench, segments: Any) -> None:
    await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    (reading,) = bench.telemetry.readings
    assert isinstance(reading, JudgeCall)
    assert (reading.segment_id, reading.judge, reading.outcome) == ("seg-1", "state", "ok")
    assert reading.rationale == "walked on"
    assert bench.metric("calls_total", judge="state", outcome="ok") == 1
    assert bench.metric("abstentions_total", criterion="puzzle", reason="invalid_answers") == 1


async def test_the_panel_sees_neither_ids_nor_steps_of_the_run(bench: Bench, segments: Any) -> None:
    await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    text = bench.panel.cases[0].evidence.model_dump_json()
    assert all(word not in text for word in ("seg-1", "ep-1", "run-1", "123456", "900"))
    assert bench.panel.cases[0].strip is not None


async def test_a_segment_with_a_score_costs_no_call_and_its_event_is_sent_again(
    bench: Bench, segments: Any
) -> None:
    event = _event(segments.write_segment(bench.store))
    await bench.scorer.handle_segment_exported(event)
    bench.panel.results |= {"progress": _score(0.0)}
    await bench.scorer.handle_segment_exported(event)
    assert len(bench.panel.cases) == 1
    assert bench.publisher.published[0] == bench.publisher.published[1]
    assert bench.metric("scores_total", result="repeated") == 1


async def test_duplicates_at_the_same_time_are_judged_once(bench: Bench, segments: Any) -> None:
    event = _event(segments.write_segment(bench.store))
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


async def test_the_event_tells_of_the_stored_object_even_when_another_judge_wrote_it(
    bench: Bench, segments: Any
) -> None:
    event = _event(segments.write_segment(bench.store))
    await bench.scorer.handle_segment_exported(event)
    winner = bench.stored().model_copy(update={"weighted": 0.125})
    data = winner.model_dump_json().encode()
    bench.store.delete_many([SCORE_KEY])
    await bench.build(BeatenStore(bench.store, data)).handle_segment_exported(event)
    told = bench.publisher.published[-1]
    assert isinstance(told, SegmentScored)
    assert told.weighted == 0.125
    assert told.score_sha256 == hashlib.sha256(data).hexdigest()


async def test_an_outage_commits_nothing_and_asks_for_the_pause_of_the_server(
    bench: Bench, segments: Any
) -> None:
    bench.panel.error = ThrottledError("slow down", 7.0)
    with pytest.raises(Retry) as raised:
        await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    assert raised.value.after == timedelta(seconds=7)
    assert list(bench.store.list(keys.scores())) == []
    assert bench.publisher.published == []


async def test_a_store_that_is_away_is_a_retry(bench: Bench, segments: Any) -> None:
    class Away(BeatenStore):
        def get(self, key: str) -> bytes:
            raise StoreUnavailableError("S3 is away")

    event = _event(segments.write_segment(bench.store))
    with pytest.raises(Retry, match="S3 is away"):
        await bench.build(Away(bench.store, b"")).handle_segment_exported(event)


async def test_a_bus_that_is_away_keeps_the_score_and_retries_the_event(
    bench: Bench, segments: Any
) -> None:
    event = _event(segments.write_segment(bench.store))
    bench.publisher.error = BusUnavailableError("NATS is away")
    with pytest.raises(Retry, match="NATS is away"):
        await bench.scorer.handle_segment_exported(event)
    bench.publisher.error = None
    await bench.scorer.handle_segment_exported(event)
    assert len(bench.panel.cases) == 1
    assert len(bench.publisher.published) == 1


async def test_a_corrupt_segment_is_rejected_unseen(bench: Bench, segments: Any) -> None:
    data = segments.write_segment(bench.store).model_copy(update={"manifest_sha256": "f" * 64})
    with pytest.raises(Reject) as raised:
        await bench.scorer.handle_segment_exported(_event(data))
    assert raised.value.reason == "corrupt_segment"
    assert bench.panel.cases == []


async def test_an_event_of_another_segment_is_rejected(bench: Bench, segments: Any) -> None:
    data = segments.write_segment(bench.store).model_copy(update={"segment_id": "seg-9"})
    with pytest.raises(Reject, match="names segment seg-9"):
        await bench.scorer.handle_segment_exported(_event(data))


async def test_a_missing_manifest_is_suspect_so_the_worker_counts_its_tries(
    bench: Bench, segments: Any
) -> None:
    data = segments.write_segment(bench.store, leave_out="manifest.json")
    with pytest.raises(Suspect, match="missing_object"):
        await bench.scorer.handle_segment_exported(_event(data))


async def test_a_stored_score_that_is_none_is_rejected_with_its_key(
    bench: Bench, segments: Any
) -> None:
    bench.store.put(SCORE_KEY, b"{}")
    with pytest.raises(Reject, match=SCORE_KEY) as raised:
        await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    assert raised.value.reason == "corrupt_score"


async def test_no_lock_is_left_behind(bench: Bench, segments: Any) -> None:
    await bench.scorer.handle_segment_exported(_event(segments.write_segment(bench.store)))
    assert bench.scorer._locks == {}
