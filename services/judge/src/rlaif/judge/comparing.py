"""Builds what compares pairs of segments from the settings."""

from datetime import UTC, datetime

from rlaif.judge.panel.comparisons import Comparisons
from rlaif.judge.panel.pair_judge import PairJudge
from rlaif.judge.panel.scored_segments import ScoredSegments
from rlaif.judge.panel.wanted_pairs import WantedPairs
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import JudgeParts, judges_of_pairs
from rlaif.storage.ports import ObjectStore


def build_comparisons(
    settings: JudgeSettings, parts: JudgeParts, episodes: ObjectStore, models: ObjectStore
) -> Comparisons | None:
    """Compares as the settings say; None when they say not to."""
    chosen = judges_of_pairs(settings.compare, parts.judges)
    if not chosen:
        return None
    config = parts.rules.judge_config
    return Comparisons(
        episodes,
        {
            kind: PairJudge(
                judge,
                parts.routes[judge.name],
                max_tokens=settings.voting.answer_tokens,
                on_call=parts.metrics.called,
                now=_now,
            )
            for kind, judge in chosen.items()
        },
        ScoredSegments(episodes, config),
        WantedPairs(models, episodes, config),
        settings.compare,
        on_compared=parts.metrics.compared,
        distrusted=parts.canary_rounds.distrusted,
    )


def _now() -> datetime:
    return datetime.now(UTC)
