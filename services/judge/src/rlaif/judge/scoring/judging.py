"""Judges one segment: evidence, levels that the RAM decides, votes of the panel, score record."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord, rubric_mean
from rlaif.contracts.telemetry.readings import JudgeCall
from rlaif.judge.evidence.loading import CorruptSegmentError, LoadedSegment, load_segment
from rlaif.judge.evidence.ram_verdicts import known_rise, ram_levels, ram_verdicts
from rlaif.judge.evidence.strip import load_strip
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.counting import in_share, judges_needed
from rlaif.judge.panel.panel import Panel, PanelResult
from rlaif.judge.panel.voting import Case
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.storage.ports import ObjectStore


@dataclass(frozen=True)
class ScoringRules:
    """Common to all scores of this service; `computed` names what the RAM decides."""

    judge_config: str
    weights: Mapping[str, float]
    judges: tuple[Judge, ...]
    computed: frozenset[str] = frozenset()
    audit_share: float = 0.0


@dataclass(frozen=True)
class Judged:
    """A new score record and the evidence that it was based on."""

    record: ScoreRecord
    evidence: Evidence


class SegmentJudge:
    """Makes score records."""

    def __init__(
        self,
        store: ObjectStore,
        telemetry: TelemetryPublisher,
        panel: Panel,
        rules: ScoringRules,
        metrics: JudgeMetrics,
        canaries: CanaryRounds | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._telemetry = telemetry
        self._panel = panel
        self._rules = rules
        self._metrics = metrics
        self._canaries = canaries
        self._now = now

    async def load(self, exported: SegmentExported) -> LoadedSegment:
        """Raises ObjectNotFoundError, CorruptSegmentError and StoreUnavailableError."""
        segment = await asyncio.to_thread(
            load_segment,
            self._store,
            manifest_key=exported.manifest_key,
            manifest_sha256=exported.manifest_sha256,
        )
        if segment.manifest.segment_id != exported.segment_id:
            raise CorruptSegmentError(
                f"the event names segment {exported.segment_id}, its manifest another one"
            )
        return segment

    async def judge(self, exported: SegmentExported, segment: LoadedSegment) -> Judged:
        """Ask the panel; raises OutageError when a route does not work."""
        calls: list[JudgeCallRecord] = []

        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self._metrics.called(record)
            await self._telemetry.send(_telemetry(record, exported.segment_id, self._now()))

        case = await self._case(segment)
        found = await self._panel.judge(case, on_call)
        self._metrics.heard(found.heard)
        record = score_record(
            exported,
            segment.manifest,
            case.evidence,
            found,
            self._rules,
            calls=calls,
            created_at=self._now(),
        )
        if self._canaries is not None:
            self._canaries.after_segment(found, record)
        return Judged(record, case.evidence)

    async def _case(self, segment: LoadedSegment) -> Case:
        """Evidence, decided criteria, and pictures if a judge looks at them."""
        evidence = summarise(segment.states)
        decided = ram_verdicts(evidence, self._rules.computed)
        audit = in_share("audit", segment.manifest.segment_id, self._rules.audit_share)
        asked = judges_needed(self._rules.judges, decided, audit=audit)
        pictures = max((judge.pictures for judge in asked), default=0)
        strip = await asyncio.to_thread(load_strip, self._store, segment, pictures)
        return Case(evidence, strip, decided, audit)


def score_record(
    exported: SegmentExported,
    manifest: SegmentManifest,
    evidence: Evidence,
    found: PanelResult,
    rules: ScoringRules,
    *,
    calls: Iterable[JudgeCallRecord],
    created_at: datetime,
) -> ScoreRecord:
    """Assemble the record of one segment; `calls` are all, failed ones too."""
    criteria = {n: r for n, r in found.results.items() if isinstance(r, CriterionScore)}
    values = {name: score.value for name, score in criteria.items()}
    return ScoreRecord(
        segment_id=manifest.segment_id,
        episode_id=manifest.episode_id,
        run_id=manifest.run_id,
        judge_config=rules.judge_config,
        manifest_key=exported.manifest_key,
        manifest_sha256=exported.manifest_sha256,
        criteria=criteria,
        abstentions={n: r.value for n, r in found.results.items() if isinstance(r, NoVote)},
        weights=dict(rules.weights),
        weighted=rubric_mean(values, dict(rules.weights)),
        calls=tuple(sorted(calls, key=lambda call: (call.judge, call.vote))),
        env_step=manifest.env_step,
        created_at=created_at,
        evidence_sha256=evidence.sha256(),
        truth=ram_levels(evidence),
        known_rise=known_rise(evidence),
        audits=dict(found.audits),
        quest=found.quest,
        distrusted=found.unread,
    )


def _telemetry(record: JudgeCallRecord, segment_id: str, at: datetime) -> JudgeCall:
    return JudgeCall(
        at=at,
        judge=record.judge,
        route=record.route,
        model=record.model,
        segment_id=segment_id,
        outcome=reported_outcome(record),
        latency_seconds=record.latency_seconds,
        rationale=record.rationale,
    )
