"""Side-by-side comparisons of two segments, shown to a judge in both orders."""

from typing import Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.judging.scores import JudgeCallRecord
from rlaif.contracts.model import Contract, Id, Sha256, Share

Preference = Literal["first", "second", "tie"]

WhyCompared = Literal["near_tie", "uncertain", "ram_tie", "uniform"]
"""Reason for choosing a pair: the reward model's networks disagree, or drawn uniformly, without
bias. Older releases also compared near-ties, and by pictures what RAM cannot distinguish."""


class ComparisonRecord(Contract):
    """`comparisons/{judge_config}/{first}--{second}.json`; written once."""

    schema_version: Literal[1] = 1
    judge_config: Id
    judge: str
    first: Id = Field(description="Segment with the smaller id.")
    second: Id
    first_score_sha256: Sha256
    second_score_sha256: Sha256
    first_shown_first: Preference | None = Field(
        description="Answer with `first` shown first; null without one."
    )
    second_shown_first: Preference | None = Field(
        description="Answer with `second` shown first; null without one."
    )
    soft: Share | None = Field(
        description="1 when both orders prefer `first`, 0 when both prefer `second`, 0.5 for a tie "
        "or when the orders disagree; null when an answer is missing."
    )
    calls: tuple[JudgeCallRecord, ...]
    created_at: AwareDatetime
    why: WhyCompared = "near_tie"
    pictures: bool = Field(default=False, description="Older releases: with pictures of both.")


class WantedPair(Contract):
    """Two segments that should be compared; `first` has the smaller id."""

    first: Id
    second: Id
    why: WhyCompared = "uncertain"
    uncertainty: Share = Field(
        description="0: all networks of the reward model agree; 1: half against half."
    )


class WantedComparisons(Contract):
    """`reward_model/wanted_comparisons.json` in the models bucket, read by judges.

    Rewritten after each training; a lost or outdated object does no harm.
    """

    schema_version: Literal[1] = 1
    judge_config: Id
    pairs: tuple[WantedPair, ...] = Field(max_length=256, description="Most wanted first.")
    created_at: AwareDatetime


def soft_preference(one: Preference | None, other: Preference | None) -> float | None:
    """The soft label of two answers; see `ComparisonRecord.soft`."""
    if one is None or other is None:
        return None
    if one != other:
        return 0.5
    return {"first": 1.0, "second": 0.0, "tie": 0.5}[one]
