"""The report of an evaluator pass: one row per segment, and a summary of the epoch."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

from rlaif.contracts.scores import CRITERIA, ScoreRecord
from rlaif.judge.trust.agreement import Confusion

Row = dict[str, Any]


def row(record: ScoreRecord) -> Row:
    """One line of scores.jsonl; a criterion without a score is null."""
    scores = [(name, record.criteria.get(name)) for name in CRITERIA]
    return {
        "segment_id": record.segment_id,
        "episode_id": record.episode_id,
        "run_id": record.run_id,
        "env_step": record.env_step,
        "judge_config": record.judge_config,
        "provenance": record.provenance,
        "weighted": record.weighted,
        **{name: score.value if score else None for name, score in scores},
        **{f"{name}_soft": score.soft if score else None for name, score in scores},
        **{f"{name}_source": score.source if score else None for name, score in scores},
        **_quest(record),
        "judged_share": _judged_share(record),
        "agreement": _mean([score.agreement for score in record.criteria.values()]),
        "abstentions": dict(record.abstentions),
        "created_at": record.created_at.isoformat(),
    }


def summary(
    records: Sequence[ScoreRecord],
    *,
    number: int,
    run_id: str | None,
    segments: int,
    failed: Mapping[str, str],
    judge_config: str,
    started_at: datetime,
    finished_at: datetime,
) -> dict[str, Any]:
    """The body of `evaluations/epoch_N/summary.json`; `records` include human overrides."""
    labels = sum(record.weighted is not None for record in records)
    return {
        "schema_version": 1,
        "epoch": number,
        "run_id": run_id,
        "judge_config": judge_config,
        "segments": segments,
        "judged": len(records),
        "labels": labels,
        "overridden": sum(record.provenance == "human" for record in records),
        "failed": dict(failed),
        "weighted_mean": _mean([r.weighted for r in records if r.weighted is not None]),
        "judged_share": _mean([share for r in records if (share := _judged_share(r)) is not None]),
        "rise_mean": _mean([record.quest.rise for record in records if record.quest]),
        "criteria": {name: _criterion(name, records) for name in CRITERIA},
        "judges": _judges(records),
        "cost": _cost(records, labels),
        "started_at": started_at.isoformat(),
        "finished_at": finished_at.isoformat(),
    }


def _judged_share(record: ScoreRecord) -> float | None:
    """Share of the score that votes decided; None without a score."""
    return record.decided_by.get("votes", 0.0) if record.criteria else None


def _quest(record: ScoreRecord) -> Row:
    quest = record.quest
    return {
        "position_start": quest.start.position if quest else None,
        "position_end": quest.end.position if quest else None,
        "rise": quest.rise if quest else None,
    }


def _criterion(name: str, records: Sequence[ScoreRecord]) -> dict[str, Any]:
    scores = [record.criteria[name] for record in records if name in record.criteria]
    reasons = Counter(record.abstentions[name] for record in records if name in record.abstentions)
    return {
        "scored": len(scores),
        "mean": _mean([score.value for score in scores]),
        "agreement": _mean([score.agreement for score in scores]),
        "sources": dict(Counter(score.source for score in scores)),
        "abstentions": dict(reasons),
    }


def _judges(records: Sequence[ScoreRecord]) -> dict[str, Any]:
    outcomes: dict[str, Counter[str]] = {}
    truth: dict[tuple[str, str], Confusion] = {}
    for record in records:
        for call in record.calls:
            if not call.cached:
                outcomes.setdefault(call.judge, Counter())[call.outcome] += 1
        for name, score in {**record.criteria, **record.audits}.items():
            known = record.known_level(name)
            if score.source == "votes" and known is not None:
                confusion = truth.setdefault((score.judge, name), Confusion())
                for level in score.votes:
                    confusion.count(known, level)
    return {
        judge: {
            "calls": dict(outcomes.get(judge, {})),
            "truth": {name: _against(found) for (of, name), found in truth.items() if of == judge},
        }
        for judge in sorted({*outcomes, *(of for of, _ in truth)})
    }


def _against(confusion: Confusion) -> dict[str, Any]:
    return {
        "votes": confusion.votes,
        "accuracy": confusion.accuracy,
        "kappa": confusion.kappa,
        "pair_accuracy": confusion.pair_accuracy,
    }


def _cost(records: Sequence[ScoreRecord], labels: int) -> dict[str, Any]:
    calls = [call for record in records for call in record.calls]
    tokens = sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in calls)
    seconds = sum(call.latency_seconds for call in calls)
    return {
        "calls": sum(not call.cached for call in calls),
        "cached_answers": sum(call.cached for call in calls),
        "tokens": tokens,
        "seconds": round(seconds, 3),
        "tokens_per_label": tokens / labels if labels else None,
        "seconds_per_label": seconds / labels if labels else None,
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
