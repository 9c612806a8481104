"""Judges one segment: evidence, levels known from RAM, votes of the panel, score record."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord, rubric_mean
from rlaif.contracts.telemetry.readings import JudgeCall
from rlaif.judge.evidence.loading import load_segment
from rlaif.judge.evidence.ram_verdicts import known_rise, ram_levels, ram_verdicts
from rlaif.judge.evidence.strip import load_strip
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.panel import Case, Panel, in_share, judges_needed
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.storage.ports import ObjectStore


@dataclass(frozen=True)
class ScoringRules:
    """Parameters of all scores of this service; `computed` is decided by RAM."""

    judge_config: str
    weights: Mapping[str, float]
    judges: tuple[Judge, ...]
    computed: frozenset[str] = frozenset()
    audit_share: float = 0.0


@dataclass(frozen=True)
class SegmentJudge:
    """Creates score records."""

    store: ObjectStore
    telemetry: TelemetryPublisher
    panel: Panel
    rules: ScoringRules
    metrics: JudgeMetrics
    canaries: CanaryRounds | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def judge(self, exported: SegmentExported) -> ScoreRecord:
        """Load a segment and ask the panel; returns its score.

        Raises:
            ObjectNotFoundError: An object of the segment is missing.
            CorruptSegmentError: An object of the segment is corrupt.
            StoreUnavailableError: The store did not answer.
            OutageError: A route is unavailable.
        """
        segment = await asyncio.to_thread(load_segment, self.store, exported)
        if self.canaries is not None:
            await self.canaries.before_segment()
        calls: list[JudgeCallRecord] = []

        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self.metrics.called(record)
            await self.telemetry.send(_telemetry(record, exported.segment_id, self.now()))

        manifest, rules = segment.manifest, self.rules
        evidence = summarise(segment.states)
        decided = ram_verdicts(evidence, rules.computed)
        audit = in_share("audit", manifest.segment_id, rules.audit_share)
        asked = judges_needed(rules.judges, decided, audit=audit)
        pictures = max((judge.pictures for judge in asked), default=0)
        strip = await asyncio.to_thread(load_strip, self.store, segment, pictures)
        found = await self.panel.judge(Case(evidence, strip, decided, audit), on_call)
        self.metrics.heard(found.heard)
        criteria = {n: r for n, r in found.results.items() if isinstance(r, CriterionScore)}
        values = {name: score.value for name, score in criteria.items()}
        record = ScoreRecord(
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
            created_at=self.now(),
            evidence_sha256=evidence.sha256(),
            truth=ram_levels(evidence),
            known_rise=known_rise(evidence),
            audits=dict(found.audits),
            quest=found.quest,
            distrusted=found.unread,
        )
        if self.canaries is not None:
            self.canaries.after_segment(found, record)
        return record


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
