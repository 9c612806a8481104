"""A person's word against the judges': one more score object, never a change of an old one."""

from collections.abc import Mapping
from datetime import datetime

from rlaif.contracts.scores import PROGRESS, ScoreRecord, rubric_mean
from rlaif.judge.rubric.votes import certain
from rlaif.storage import keys

HUMAN = "human"


def overridden(
    base: ScoreRecord,
    levels: Mapping[str, int | None],
    *,
    revision: int,
    author: str,
    note: str | None,
    at: datetime,
) -> ScoreRecord:
    """The judges' score `base` with the levels 0 to 2 that a person gives, None for "cannot tell".

    Other criteria stay as they were. A level of progress takes the place of what the judges said of
    the quest: a person says closer or away, not how far. `revision` counts the overrides of the
    segment, from 1.
    """
    criteria = {name: score for name, score in base.criteria.items() if name not in levels}
    abstentions = {name: reason for name, reason in base.abstentions.items() if name not in levels}
    for name, level in levels.items():
        if level is None:
            abstentions[name] = HUMAN
        else:
            criteria[name] = certain(level, judge=HUMAN, source="human")
    values = {name: score.value for name, score in criteria.items()}
    return base.model_copy(
        update={
            "judge_config": keys.human_config(revision),
            "criteria": criteria,
            "abstentions": abstentions,
            "weighted": rubric_mean(values, dict(base.weights)),
            "quest": None if PROGRESS in levels else base.quest,
            "calls": (),
            "created_at": at,
            "provenance": "human",
            "author": author,
            "note": note,
        }
    )
