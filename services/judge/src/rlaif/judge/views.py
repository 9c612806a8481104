"""Bodies of the judge's REST routes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.scores import CRITERIA, JudgeCallRecord, ScoreRecord
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.trust.belief import Record
from rlaif.judge.trust.standing import CriterionStanding, JudgeStanding
from rlaif.judge.trust.token_budget import TokenBudget


class RouteReport(BaseModel):
    """What a route went through since the service started."""

    calls: int
    failures: int
    retries: int
    last_error: str | None
    p50_seconds: float | None = Field(description="Median of the last 200 answers.")
    deadline_seconds: float = Field(description="What a call gets now.")
    resting_seconds: float = Field(description="How long calls are kept back; 0 for not.")
    trouble: str | None = Field(
        description="Why the route cannot be used now, and what to check; null for no trouble."
    )
    answered: bool = Field(description="It answered a question that is known to be good.")


class TruthReport(BaseModel):
    """Votes on one criterion against the level that the RAM decides."""

    votes: int
    accuracy: float | None
    kappa: float | None = Field(description="0 is chance; null without two different levels.")
    pair_accuracy: float | None = Field(
        description="Of pairs with different known levels, the share ordered rightly; ties half."
    )


class PairReport(BaseModel):
    """What a judge's comparisons show since the service started."""

    pairs: int
    first_slot: float | None = Field(
        description="Share of its preferences for the segment shown first; 0.5 is no lean, null "
        "before the first preference."
    )
    consistency: float | None = Field(
        description="Share of the pairs answered in both orders whose answers agree."
    )


class CriterionReport(BaseModel):
    """How a judge does on one criterion."""

    asked: int = Field(description="Segments on which it was asked and could judge.")
    abstained: dict[str, int] = Field(description="Reason → those of them without a score.")
    abstain_rate: float | None
    believed: bool
    why_not: str | None = Field(description="Why its votes do not count; null when they do.")
    canaries: int = Field(description="Newest answers to questions with known answers.")
    canaries_right: int
    truth: TruthReport


class StandingReport(BaseModel):
    """What a judge did since the service started. A rate is null before its first case."""

    outcomes: dict[str, int] = Field(description="Calls by how they ended.")
    cached_answers: int
    parse_fail_rate: float | None = Field(description="Of the newest 2,000 calls.")
    cut_off_rate: float | None = Field(
        description="Unreadable because the answer was ended for its length; same window."
    )
    retry_rate: float | None = Field(
        description="Throttled, refused, failed or timed out; same window."
    )
    abstain_rate: float | None = Field(
        description="Of what it was asked and could judge, the share without a score."
    )
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    believed: bool = Field(description="False: on some criterion its votes do not count.")
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
    asks_quest: bool = Field(
        description="Asked where the player stands on the quest, in games with a guide."
    )
    health: RouteReport
    standing: StandingReport


class BudgetReport(BaseModel):
    """Tokens of this day of UTC."""

    per_day: int | None = Field(description="What all replicas may spend; null for no limit.")
    spent: int = Field(description="By all replicas as far as is known; without a limit, by this.")
    spent_here: int
    pause: str | None = Field(description="Why judging pauses; null when it does not.")


class JudgesReport(BaseModel):
    """Body of `/api/v1/judges`."""

    judge_config: str = Field(description="Scores lie under this id.")
    prompt_version: str
    votes: int
    computed: list[str] = Field(description="What is read off the RAM in place of being asked.")
    guided_games: list[str] = Field(description="Games with a guide, whose quest judges know.")
    weights: dict[str, float]
    labels: int = Field(description="Segments with a weighted score, since the start.")
    tokens_per_label: float | None
    useful_labels: int = Field(
        description="Segments with new evidence on which votes decided something that is learned, "
        "and comparisons in which both orders agreed."
    )
    tokens_per_useful_label: float | None
    seconds_per_label: float | None
    budget: BudgetReport
    judges: list[JudgeReport]


class JudgePrompt(BaseModel):
    """What one judge reads before each segment."""

    name: str
    model: str
    system: str
    answer_schema: dict[str, object]


class ScoreSummary(ScoreRecord):
    """A score in a list: without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


class ComparisonSummary(ComparisonRecord):
    """A comparison in a list: without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


Level = Annotated[int, Field(ge=0, le=2)]


class Override(BaseModel):
    """A person's levels for some criteria."""

    model_config = ConfigDict(extra="forbid")

    levels: dict[str, Level | None] = Field(
        min_length=1,
        description=f"Of {', '.join(CRITERIA)}: 0, 1, 2, or null for what cannot be told.",
    )
    author: str = Field(min_length=1, max_length=100)
    note: str | None = Field(default=None, max_length=2000)


def budget_report(budget: TokenBudget) -> BudgetReport:
    """The tokens of this day as `/api/v1/judges` shows them."""
    return BudgetReport(
        per_day=budget.per_day, spent=budget.spent, spent_here=budget.mine, pause=budget.check()
    )


def judge_report(judge: Judge, route: Route, standing: JudgeStanding) -> JudgeReport:
    """One judge as `/api/v1/judges` shows it."""
    health = route.health
    return JudgeReport(
        name=judge.name,
        model=judge.model,
        route=route.name,
        criteria=[criterion.name for criterion in judge.criteria],
        pictures=judge.pictures,
        context_tokens=judge.context_tokens,
        asks_quest=judge.asks_quest,
        health=RouteReport(
            calls=health.calls,
            failures=health.failures,
            retries=health.retries,
            last_error=health.last_error,
            p50_seconds=health.p50_seconds(),
            deadline_seconds=route.deadline(),
            resting_seconds=route.resting,
            trouble=route.examiner.check() if route.examiner else None,
            answered=bool(route.examiner and route.examiner.condition.answered_once),
        ),
        standing=standing_report(standing),
    )


def standing_report(standing: JudgeStanding) -> StandingReport:
    """What a judge did, as `/api/v1/judges` shows it."""
    return StandingReport(
        outcomes=dict(standing.outcomes),
        cached_answers=standing.cached,
        parse_fail_rate=standing.share("invalid", "length"),
        cut_off_rate=standing.share("length"),
        retry_rate=standing.share("throttled", "refused", "error", "timeout"),
        abstain_rate=standing.abstain_rate,
        prompt_tokens=standing.prompt_tokens,
        completion_tokens=standing.completion_tokens,
        seconds=standing.seconds,
        believed=standing.believed,
        criteria={name: _criterion_report(found) for name, found in standing.criteria.items()},
        comparisons=PairReport.model_validate(standing.pairs, from_attributes=True),
    )


def _criterion_report(standing: CriterionStanding) -> CriterionReport:
    record = standing.record or Record()
    return CriterionReport(
        asked=standing.asked,
        abstained=dict(standing.abstained),
        abstain_rate=standing.abstain_rate,
        believed=record.why_not is None,
        why_not=record.why_not,
        canaries=len(record.canaries),
        canaries_right=record.right,
        truth=TruthReport.model_validate(standing.truth, from_attributes=True),
    )
