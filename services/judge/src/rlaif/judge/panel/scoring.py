"""Assembly of the score record from what the panel found."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from rlaif.contracts.events import SegmentScored
from rlaif.contracts.scores import (
    CriterionScore,
    JudgeCallRecord,
    ScoreRecord,
    rubric_mean,
)
from rlaif.contracts.segments import SegmentManifest
from rlaif.judge.rubric.votes import NoVote


def score_record(
    manifest: SegmentManifest,
    results: Mapping[str, CriterionScore | NoVote],
    *,
    judge_config: str,
    manifest_key: str,
    manifest_sha256: str,
    weights: Mapping[str, float],
    calls: Sequence[JudgeCallRecord],
    created_at: datetime,
    evidence_sha256: str | None = None,
    truth: Mapping[str, int] | None = None,
    audits: Mapping[str, CriterionScore] | None = None,
) -> ScoreRecord:
    """Put one segment's results into its score record.

    Args:
        manifest: The segment.
        results: Criterion → score or reason for none.
        judge_config: Id of the judges, prompts and votes that led to the results.
        manifest_key: Where the manifest lies.
        manifest_sha256: Its digest.
        weights: Criterion → weight of the rubric.
        calls: Every call that was made, failed ones too.
        created_at: When.
        evidence_sha256: Digest of what the judges read.
        truth: Criterion → level that the RAM decides.
        audits: Criterion → what the judges said of a criterion that was computed.
    """
    criteria = {n: r for n, r in results.items() if isinstance(r, CriterionScore)}
    values = {name: score.value for name, score in criteria.items()}
    return ScoreRecord(
        segment_id=manifest.segment_id,
        episode_id=manifest.episode_id,
        run_id=manifest.run_id,
        judge_config=judge_config,
        manifest_key=manifest_key,
        manifest_sha256=manifest_sha256,
        criteria=criteria,
        abstentions={n: r.value for n, r in results.items() if isinstance(r, NoVote)},
        weights=dict(weights),
        weighted=rubric_mean(values, dict(weights)),
        calls=tuple(calls),
        env_step=manifest.env_step,
        created_at=created_at,
        evidence_sha256=evidence_sha256,
        truth=dict(truth or {}),
        audits=dict(audits or {}),
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
    )
