"""Responses of the REST API; statistics are read from the attributes of the same names."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import CRITERIA, JudgeCallRecord, ScoreRecord


class _Attributes(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class RouteReport(BaseModel):
    """Health of a route since the start of the service."""

    calls: int
    failures: int
    retries: int
    last_error: str | None
    p50_seconds: float | None = Field(description="Median of the last 200 answers.")
    deadline_seconds: float = Field(description="Current timeout of a call.")
    resting_seconds: float = Field(description="How long calls are held back; 0 if they are not.")
    trouble: str | None = Field(
        description="Why the route cannot be used now, and what to check; null if it can."
    )
    answered: bool = Field(description="Whether it has answered any call so far.")


class TruthReport(_Attributes):
    """Votes on one criterion against the level that the RAM determines."""

    votes: int
    accuracy: float | None
    kappa: float | None = Field(description="0 is chance; null without two different levels.")
    pair_accuracy: float | None = Field(
        description="Share of pairs with different known levels in correct order; ties count half."
    )


class PairReport(_Attributes):
    """Comparisons of a judge since the start of the service."""

    pairs: int
    first_slot: float | None = Field(
        description="Share of its preferences for the segment shown first; 0.5 is unbiased, null "
        "before the first preference."
    )
    consistency: float | None = Field(
        description="Share of the pairs answered in both orders whose answers agree."
    )


class CriterionReport(_Attributes):
    """One judge on one criterion."""

    asked: int = Field(description="Segments on which it was asked and the criterion applies.")
    abstained: dict[str, int] = Field(description="Reason → those of them without a score.")
    abstain_rate: float | None
    believed: bool
    why_not: str | None = Field(description="Why it is excluded; null if it is not.")
    canaries: int = Field(description="Newest answers to control questions.")
    canaries_right: int
    truth: TruthReport


class StandingReport(_Attributes):
    """Statistics of a judge since the start of the service. Rates are null without data."""

    outcomes: dict[str, int] = Field(description="Calls by outcome.")
    cached_answers: int
    parse_fail_rate: float | None = Field(description="Of the newest 2,000 calls.")
    cut_off_rate: float | None = Field(
        description="Unreadable because the answer was cut off; same window."
    )
    retry_rate: float | None = Field(
        description="Throttled, refused, failed or timed out; same window."
    )
    abstain_rate: float | None = Field(description="Share of applicable criteria without a score.")
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    believed: bool = Field(description="False if it is excluded for any criterion.")
    criteria: dict[str, CriterionReport]
    comparisons: PairReport


class JudgeReport(BaseModel):
    """One judge."""

    name: str
    model: str
    route: str
    criteria: list[str]
    pictures: int
    context_tokens: int
    asks_quest: bool = Field(description="Reports positions on the quest, in games with a guide.")
    health: RouteReport
    standing: StandingReport


class BudgetReport(BaseModel):
    """Tokens of this day (UTC)."""

    per_day: int | None = Field(description="Limit for all replicas; null for none.")
    spent: int = Field(description="By all replicas as far as known; without a limit, by this one.")
    spent_here: int
    pause: str | None = Field(description="Why judging pauses; null if it does not.")


class JudgesReport(BaseModel):
    """Body of `/api/v1/judges`."""

    judge_config: str = Field(description="Id under which scores are stored.")
    prompt_version: str
    votes: int
    computed: list[str] = Field(description="Criteria that are computed from the RAM.")
    guided_games: list[str] = Field(description="Games with a guide.")
    weights: dict[str, float]
    labels: int = Field(description="Segments with a weighted score since the start.")
    tokens_per_label: float | None
    useful_labels: int = Field(
        description="Segments with new evidence on which votes decided a learned criterion, and "
        "comparisons in which both orders agreed."
    )
    tokens_per_useful_label: float | None
    seconds_per_label: float | None
    budget: BudgetReport
    judges: list[JudgeReport]


class JudgePrompt(BaseModel):
    """The frozen prompt of a judge."""

    name: str
    model: str
    system: str
    answer_schema: dict[str, object]


class ScoreSummary(ScoreRecord):
    """A score without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


class ComparisonSummary(ComparisonRecord):
    """A comparison without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


class OverrideRequest(BaseModel):
    """Levels for some criteria, given by a person."""

    model_config = ConfigDict(extra="forbid")

    levels: dict[str, Annotated[int, Field(ge=0, le=2)] | None] = Field(
        min_length=1,
        description=f"Of {', '.join(CRITERIA)}: 0, 1, 2, or null for an abstention.",
    )
    author: str = Field(min_length=1, max_length=100)
    note: str | None = Field(default=None, max_length=2000)
