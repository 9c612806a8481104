"""What the judges say about one segment. A judge that fails or abstains leaves no number."""

from collections.abc import Mapping
from typing import Literal

from pydantic import AwareDatetime, Field, computed_field

from rlaif.contracts.judging.quest import QuestProgress, Source
from rlaif.contracts.model import Contract, Id, Sha256

PROGRESS = "progress"

CRITERIA = (PROGRESS, "dialog", "puzzle", "novelty", "efficiency")
"""The rubric's criteria, in the seeds' order."""

LEARNED = (PROGRESS, "dialog", "puzzle")
"""The criteria that are learned as AI feedback; the RAM computes the others."""

RUBRIC_WEIGHTS: dict[str, float] = {
    "progress": 0.4,
    "dialog": 0.2,
    "puzzle": 0.2,
    "novelty": 0.1,
    "efficiency": 0.1,
}
"""The seeds' weights; they sum to 1."""


class CriterionScore(Contract):
    """One criterion after the vote."""

    value: float = Field(
        ge=0,
        le=1,
        description="Majority level / 2: the levels 0, 1, 2 as 0, .5, 1. Of progress on a quest, "
        "the level of the rise that the votes came to.",
    )
    votes: tuple[int, ...] = Field(min_length=1, description="Valid votes, levels 0 to 2.")
    agreement: float = Field(ge=0, le=1, description="Share of the votes that are this level.")
    judge: str = Field(description="Judge that voted; `ram` for computed values, else `human`.")
    source: Source = "votes"
    soft: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Soft label: mean of the valid votes / 2. Of progress on a quest, how strong "
        "the rise is: 0.5 for none.",
    )


class JudgeCallRecord(Contract):
    """One call of a language model, for audit."""

    judge: str
    route: str
    model: str
    vote: int = Field(ge=0)
    seed: int
    prompt_sha256: Sha256
    outcome: Literal["ok", "invalid", "throttled", "error", "timeout"]
    latency_seconds: float = Field(ge=0)
    rationale: str | None = None
    detail: str | None = Field(default=None, description="What went wrong, when something did.")
    variant: int = Field(default=0, ge=0, description="Order of the facts and wording around them.")
    system_sha256: Sha256 | None = Field(
        default=None, description="Digest of the frozen part: guide, rubric and schema."
    )
    engine: str | None = Field(default=None, description="What the server says it runs.")
    answer: str | None = Field(default=None, description="Raw text, cut at 2,000 characters.")
    cached: bool = Field(default=False, description="The answer to an equal request was used.")
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(
        default=None,
        ge=0,
        description="Of the prompt's tokens, those of the server's prefix cache.",
    )
    finish_reason: str | None = Field(
        default=None, description="Why the model stopped; `length` means cut off."
    )
    fault: str | None = Field(
        default=None,
        description="What went wrong: throttled, refused, no_completion, length, server_error, "
        "unreachable, or the time that was over: connect_, write_, read_, pool_ or total_timeout.",
    )
    status: int | None = Field(default=None, description="HTTP status, when it was not 200.")


class ScoreRecord(Contract):
    """`scores/{judge_config}/{segment_id}.json`: the commit point of a score."""

    schema_version: Literal[1] = 1
    segment_id: Id
    episode_id: Id
    run_id: Id
    judge_config: Id
    manifest_key: str
    manifest_sha256: Sha256
    criteria: dict[str, CriterionScore]
    abstentions: dict[str, str] = Field(
        default_factory=dict, description="Criterion → why it has no score."
    )
    weights: dict[str, float]
    weighted: float | None = Field(
        ge=0,
        le=1,
        description="Rubric mean over the judged criteria; null below half of the weight.",
    )
    calls: tuple[JudgeCallRecord, ...]
    env_step: int = Field(default=0, ge=0, description="Of the segment: orders labels in time.")
    created_at: AwareDatetime
    provenance: Literal["judges", "human"] = "judges"
    author: str | None = Field(default=None, description="Who overrode the judges.")
    note: str | None = Field(default=None, description="Why, in the author's words.")
    evidence_sha256: Sha256 | None = Field(
        default=None, description="Digest of what the judges read; equal for near-duplicates."
    )
    truth: dict[str, int] = Field(
        default_factory=dict, description="Criterion → level that the RAM decides without a judge."
    )
    known_rise: int | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Level of the rise on the quest where the RAM is sure of it; progress by its "
        "anchors, in `truth`, has another scale.",
    )
    audits: dict[str, CriterionScore] = Field(
        default_factory=dict,
        description="Criteria that were computed and asked as well, to check the judge.",
    )
    quest: QuestProgress | None = Field(
        default=None,
        description="Where the segment started and ended on the quest; null when no judge could "
        "say, and in scores of older judges.",
    )
    distrusted: tuple[str, ...] = Field(
        default=(),
        description="Judges whose answers could not be parsed: the score is provisional, and is "
        "replaced once they can be.",
    )

    @computed_field(  # type: ignore[prop-decorator]  # mypy knows no decorated property
        description="Kind of source → share of the judged criteria's weight that it decided: "
        "`votes` of language models, `computed` from the RAM, `human`; empty without criteria."
    )
    @property
    def decided_by(self) -> dict[Source, float]:
        """Which share of the score models, the RAM and people decided."""
        return shares_by_source(self.criteria, self.weights)

    @property
    def votes_agreement(self) -> float | None:
        """How far the language models agreed: mean over the criteria that they decided, or None."""
        voted = [score.agreement for score in self.criteria.values() if score.source == "votes"]
        return sum(voted) / len(voted) if voted else None

    def known_level(self, criterion: str) -> int | None:
        """The level that the RAM decides, on the scale of this score's votes; None for none."""
        on_quest = criterion == PROGRESS and self.quest is not None
        return self.known_rise if on_quest else self.truth.get(criterion)


def shares_by_source(
    criteria: Mapping[str, CriterionScore], weights: Mapping[str, float]
) -> dict[Source, float]:
    """Kind of source → its share of the judged criteria's weight; empty when nothing has any."""
    shares: dict[Source, float] = {}
    total = sum(weights.get(name, 0.0) for name in criteria)
    for name, score in criteria.items():
        if weight := weights.get(name, 0.0):
            shares[score.source] = shares.get(score.source, 0.0) + weight / total
    return shares


def rubric_mean(
    values: dict[str, float], weights: dict[str, float], *, least_weight: float = 0.5
) -> float | None:
    """Weighted mean in [0, 1] of the judged criteria's values, each in [0, 1].

    Missing criteria are left out of both sums: nothing is imputed. None when those judged have less
    than `least_weight`, a share of the total weight.
    """
    judged = sum(weights[name] for name in values)
    if judged <= 0 or judged < least_weight * sum(weights.values()):
        return None
    mean = sum(weights[name] * value for name, value in values.items()) / judged
    return min(1.0, max(0.0, mean))
