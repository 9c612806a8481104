"""Scores of one segment. A failed or abstaining judge contributes no number."""

from typing import Literal

from pydantic import AwareDatetime, Field, computed_field

from rlaif.contracts.judging.quest import QuestProgress, Source
from rlaif.contracts.model import Contract, Count, Id, Seconds, Sha256, Share

PROGRESS = "progress"

CRITERIA = (PROGRESS, "dialog", "puzzle", "novelty", "efficiency")
"""The rubric's criteria, in the specification's order."""

LEARNED = (PROGRESS, "dialog", "puzzle")
"""The criteria that are learned as AI feedback; the RAM computes the others."""

RUBRIC_WEIGHTS: dict[str, float] = {
    "progress": 0.4,
    "dialog": 0.2,
    "puzzle": 0.2,
    "novelty": 0.1,
    "efficiency": 0.1,
}
"""The specification's weights; they sum to 1."""


class CriterionScore(Contract):
    """One criterion after the vote."""

    value: Share = Field(
        description="Majority level (0, 1, 2) / 2. Of progress on a quest, the level of the rise."
    )
    votes: tuple[int, ...] = Field(min_length=1, description="Valid votes, levels 0 to 2.")
    agreement: Share = Field(description="Share of the votes for this level.")
    judge: str = Field(description="Judge that voted; `ram` for computed values, else `human`.")
    source: Source = "votes"
    soft: Share | None = Field(
        default=None,
        description="Soft label: mean of the valid votes / 2. Of progress on a quest, size of the "
        "rise: 0.5 for none.",
    )


class JudgeCallRecord(Contract):
    """One call of a language model, for audit."""

    judge: str
    route: str
    model: str = Field(description="That answered; of a failed call, as configured.")
    vote: Count
    seed: int
    prompt_sha256: Sha256
    outcome: Literal["ok", "invalid", "throttled", "error", "timeout"]
    latency_seconds: Seconds
    rationale: str | None = None
    detail: str | None = Field(default=None, description="Details of a failure.")
    variant: Count = Field(default=0, description="Order of the facts, and wording.")
    system_sha256: Sha256 | None = Field(
        default=None, description="Digest of the frozen part: guide, rubric and schema."
    )
    engine: str | None = Field(default=None, description="As reported by the server.")
    answer: str | None = Field(default=None, description="Raw text, truncated to 2,000 characters.")
    cached: bool = Field(default=False, description="Answer to an earlier equal request.")
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = Field(
        default=None, description="Prompt tokens from the server's prefix cache."
    )
    finish_reason: str | None = Field(
        default=None, description="Reason why the model stopped; `length`: truncated."
    )
    fault: str | None = Field(
        default=None,
        description="throttled, refused, no_completion, length, server_error, unreachable, "
        "or connect_, write_, read_, pool_ or total_timeout.",
    )
    status: int | None = Field(default=None, description="HTTP status other than 200.")


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
        default_factory=dict, description="Criterion → reason why it has no score."
    )
    weights: dict[str, float]
    weighted: Share | None = Field(
        description="Rubric mean over the judged criteria; null below half of the weight."
    )
    calls: tuple[JudgeCallRecord, ...]
    env_step: Count = Field(default=0, description="Step of the segment; orders labels in time.")
    created_at: AwareDatetime
    provenance: Literal["judges", "human"] = "judges"
    author: str | None = Field(default=None, description="Person that overrode the judges.")
    note: str | None = Field(default=None, description="Reason of the author.")
    evidence_sha256: Sha256 | None = Field(
        default=None, description="Digest of the evidence; equal for near-duplicates."
    )
    truth: dict[str, int] = Field(
        default_factory=dict, description="Criterion → level known from RAM."
    )
    known_rise: int | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Level of the rise on the quest, if known from RAM; `progress` in `truth` has "
        "another scale.",
    )
    audits: dict[str, CriterionScore] = Field(
        default_factory=dict,
        description="Votes on criteria that are also computed, as a check of the judge.",
    )
    quest: QuestProgress | None = Field(
        default=None,
        description="Null without an answer, and in scores of older judges.",
    )
    distrusted: tuple[str, ...] = Field(
        default=(),
        description="Judges whose answers could not be parsed: the score is provisional until they "
        "answer.",
    )

    @computed_field(  # type: ignore[prop-decorator]  # unsupported by mypy
        description="Source → its share of the judged criteria's weight: `votes` of language "
        "models, `computed` from RAM, `human`; empty without criteria."
    )
    @property
    def decided_by(self) -> dict[Source, float]:
        shares: dict[Source, float] = {}
        total = sum(self.weights.get(name, 0.0) for name in self.criteria)
        for name, score in self.criteria.items():
            if weight := self.weights.get(name, 0.0):
                shares[score.source] = shares.get(score.source, 0.0) + weight / total
        return shares

    @property
    def votes_agreement(self) -> float | None:
        """Mean agreement over the criteria that language models decided."""
        voted = [score.agreement for score in self.criteria.values() if score.source == "votes"]
        return sum(voted) / len(voted) if voted else None

    def known_level(self, criterion: str) -> int | None:
        """The level known from RAM, on the scale of this score's votes."""
        on_quest = criterion == PROGRESS and self.quest is not None
        return self.known_rise if on_quest else self.truth.get(criterion)


def rubric_mean(values: dict[str, float], weights: dict[str, float]) -> float | None:
    """Weighted mean in [0, 1] of the judged criteria's values, each in [0, 1].

    Missing values are not imputed. None if the judged criteria have less than half of the weight.
    """
    judged = sum(weights[name] for name in values)
    if judged <= 0 or judged < 0.5 * sum(weights.values()):
        return None
    mean = sum(weights[name] * value for name, value in values.items()) / judged
    return min(1.0, max(0.0, mean))
