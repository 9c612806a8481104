"""Assembly of the score record from what the panel found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from rlaif.contracts.events import SegmentExported, SegmentScored
from rlaif.contracts.evidence import Evidence
from rlaif.contracts.scores import (
    CriterionScore,
    JudgeCallRecord,
    ScoreRecord,
    rubric_mean,
)
from rlaif.contracts.segments import SegmentManifest
from rlaif.judge.evidence.ram_verdicts import known_rise, ram_levels
from rlaif.judge.panel.panel import PanelResult
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.rubric.votes import NoVote


@dataclass(frozen=True)
class ScoringRules:
    """What every score of this service is made with; `computed` names what the RAM decides."""

    judge_config: str
    weights: Mapping[str, float]
    judges: tuple[Judge, ...]
    computed: frozenset[str] = frozenset()
    audit_share: float = 0.0


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
    """Put one segment's results into its score record; `calls` are all, failed ones too."""
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
        distrusted=found.distrusted,
    )


def scored_event(record: ScoreRecord, *, key: str, sha256: str) -> SegmentScored:
    """The event that tells of a stored score."""
    return SegmentScored(
        segment_id=record.segment_id,
        episode_id=record.episode_id,
        run_id=record.run_id,
        judge_config=record.judge_config,
        score_key=key,
        score_sha256=sha256,
        weighted=record.weighted,
        abstained=tuple(sorted(record.abstentions)),
        agreement=record.votes_agreement,
    )
