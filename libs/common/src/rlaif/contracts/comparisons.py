"""Which of two segments the judges prefer, asked in both orders when their scores nearly tie."""

from typing import Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.model import Contract
from rlaif.contracts.scores import JudgeCallRecord

Preference = Literal["first", "second", "tie"]


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
        description="Answer when `first` was shown first; null when there was none."
    )
    second_shown_first: Preference | None = Field(
        description="Answer when `second` was shown first; null when there was none."
    )
    soft: float | None = Field(
        ge=0,
        le=1,
        description="1 when both orders prefer `first`, 0 when both prefer `second`, 0.5 for a tie "
        "or when the orders disagree; null when an answer is missing.",
    )
    calls: tuple[JudgeCallRecord, ...]
    created_at: AwareDatetime


def soft_preference(one: Preference | None, other: Preference | None) -> float | None:
    """The soft label of two answers; see `ComparisonRecord.soft`."""
    if one is None or other is None:
        return None
    if one != other:
        return 0.5
    return {"first": 1.0, "second": 0.0, "tie": 0.5}[one]
