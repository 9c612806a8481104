"""What the page shows of a score object."""

from statistics import fmean
from typing import get_args

from rlaif.contracts.quest import QuestProgress, Source
from rlaif.contracts.scores import ScoreRecord
from rlaif.hud.read_model.views import QuestView, Rationale, ScoreDetail

RATIONALE_CHARACTERS = 600
"""A rationale in the table is cut here; the segment's own page has it whole."""


def score_detail(record: ScoreRecord) -> ScoreDetail:
    """Criteria, agreement and the first words of each judge whose call ended well."""
    return ScoreDetail(
        criteria=record.criteria,
        abstentions=record.abstentions,
        agreement=fmean(score.agreement for score in record.criteria.values())
        if record.criteria
        else None,
        shares=_shares(record),
        quest=_quest(record.quest) if record.quest else None,
        rationales=_rationales(record),
        calls_ok=sum(call.outcome == "ok" for call in record.calls),
        calls=len(record.calls),
    )


def _shares(record: ScoreRecord) -> dict[Source, float]:
    """Who decided which share, those who decided nothing too; empty when nothing was judged."""
    decided = record.decided_by
    return {source: decided.get(source, 0.0) for source in get_args(Source)} if decided else {}


def _quest(quest: QuestProgress) -> QuestView:
    return QuestView(
        start=quest.start,
        end=quest.end,
        objectives=quest.objectives,
        rise=quest.rise,
        votes=quest.votes,
        source=quest.source,
    )


def _rationales(record: ScoreRecord) -> tuple[Rationale, ...]:
    first: dict[str, str] = {}
    for call in record.calls:
        if call.outcome == "ok" and call.rationale:
            first.setdefault(call.judge, _cut(call.rationale))
    return tuple(Rationale(judge=judge, text=text) for judge, text in first.items())


def _cut(text: str) -> str:
    if len(text) <= RATIONALE_CHARACTERS:
        return text
    return text[: RATIONALE_CHARACTERS - 1] + "…"
