"""Human reviews: pairs to compare, the log of votes, and agreement of judges with people.

`reward_model/votes/{number}.json` in the models bucket holds one immutable `VoteRecord`; a
withdrawal is another record. The other types are bodies of the REST API.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from rlaif.contracts.model import Contract, Difference, Id, Positive, Share

Lean = Literal["a", "b", "equal"]
"""The better one of a pair."""

Choice = Literal["a", "b", "equal", "skip"]
"""A person's answer; after `skip`, without an opinion, the person is not asked again."""

WhyReviewed = Literal["networks", "judges", "judges_against_model", "uniform", "asked"]
"""Reason for showing a pair: disagreement of the reward model's networks, of judges' votes, or of
judges and model; drawn uniformly, to measure agreement; or requested by a person."""

PANEL, SIDE_BY_SIDE, RAM, MODEL = "panel", "side-by-side", "ram", "reward-model"
"""Raters that are not a single judge: all judges together as the pair is learned without people,
the judge of both segments at once, RAM counters, and the model that was live."""

WHOLE = frozenset({PANEL, SIDE_BY_SIDE, RAM, MODEL})

PAIR_PATTERN = r"^[a-z0-9][a-z0-9-]{0,63}--[a-z0-9][a-z0-9-]{0,63}$"
"""Id of a pair: both segments, the smaller id first."""

MAX_NEXT = 8
"""Maximum pairs per request: a page prefetches the next one."""

ENOUGH_VOTES = 20
"""Minimum number of votes for a kappa: at 20 its interval is about ±0.4."""

ActorName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]


class Opinion(Contract):
    """Opinion of one rater on the pair at the time of the vote."""

    rater: str = Field(
        description="A judge's name, or `panel`, `side-by-side`, `ram`, `reward-model`."
    )
    says: Lean | None = Field(description="Null: no opinion on one of the two.")
    margin: Difference | None = Field(
        default=None,
        description="Margin of A on the scale of its criteria; of the model, 2 P(A better) - 1.",
    )


class Verdict(Contract):
    """Opinions on the pair at the time of the vote."""

    judge_config: Id | None = None
    model_version: Positive | None = Field(default=None, description="The live model.")
    opinions: tuple[Opinion, ...] = ()

    def of(self, rater: str) -> Opinion | None:
        return next((item for item in self.opinions if item.rater == rater), None)


class VoteRecord(Contract):
    """One line of the log: a vote, or the withdrawal of one."""

    schema_version: Literal[1] = 1
    number: Positive
    kind: Literal["vote", "undo"]
    actor: str = Field(min_length=1, max_length=64, description="Name given by the voter.")
    a: Id = Field(description="Segment shown as A.")
    b: Id
    choice: Choice | None = Field(default=None, description="Null in a withdrawal.")
    undoes: Positive | None = Field(default=None, description="Number of the withdrawn vote.")
    blind: bool = Field(default=False, description="Cast without seeing any other opinion.")
    why: WhyReviewed = "asked"
    information: Share | None = Field(default=None, description="Disagreement when it was shown.")
    verdict: Verdict = Verdict()
    request_id: str = Field(
        default="", max_length=128, description="A repeated request is not a second vote."
    )
    created_at: AwareDatetime

    @property
    def pair(self) -> tuple[str, str]:
        """Both segments, the smaller id first."""
        return (self.a, self.b) if self.a < self.b else (self.b, self.a)


class Clip(BaseModel, frozen=True):
    """One segment of a pair, without anything that could influence the vote."""

    segment_id: Id
    episode_id: Id
    decision_steps: Positive


class PairToReview(BaseModel, frozen=True):
    """Two segments to be compared, without any opinion."""

    pair_id: str = Field(pattern=PAIR_PATTERN)
    a: Clip
    b: Clip


class PairList(BaseModel, frozen=True):
    """Pairs to review, most wanted first."""

    items: tuple[PairToReview, ...]
    labels: int = Field(description="Labels from which pairs are drawn.")


class VoteRequest(BaseModel, frozen=True, extra="forbid"):
    """A person's answer."""

    actor: ActorName = Field(description="Name of the voter, stored in the log.")
    a: Id = Field(description="Segment that was shown as A.")
    choice: Choice
    blind: bool = Field(description="Whether no other opinion on the pair was shown before.")


class UndoRequest(BaseModel, frozen=True, extra="forbid"):
    """Withdrawal of a vote."""

    actor: ActorName


class Word(BaseModel, frozen=True):
    """Answer of one call of a judge on one of the two segments."""

    of: Literal["a", "b"]
    judge: str
    model: str
    vote: int
    text: str


class VoteReport(BaseModel, frozen=True):
    """A vote, and the judges' opinions on the pair."""

    record: VoteRecord
    agreed: int = Field(description="Judges that agree with the vote.")
    asked: int = Field(description="Judges with an opinion on this pair.")
    words: tuple[Word, ...] = Field(description="Answers of the judges' calls.")


class Agreement(BaseModel, frozen=True):
    """Agreement of one rater with people; null: unknown."""

    rater: str
    votes: int = Field(description="Blind votes on pairs on which the rater has an opinion.")
    pairs: int = Field(description="Their pairs.")
    agreed: int = Field(description="Votes that agree with the rater.")
    kappa: float | None = Field(description="Cohen's kappa; null if all answers are equal.")
    low: float | None = Field(description="Lower end of its 95 % interval over pairs.")
    high: float | None
    enough: bool = Field(description="Whether there are enough votes for a kappa.")


class AgreementReport(BaseModel, frozen=True):
    """Judges against people."""

    votes: int = Field(description="Votes ever cast, without skips.")
    blind: int = Field(description="Votes cast without seeing any other opinion; only these count.")
    undone: int = Field(description="Withdrawn votes; blind ones among them count.")
    skipped: int
    people: int = Field(description="Distinct voters, by given name.")
    teaching: int = Field(default=0, description="Voted pairs of labels for the next training.")
    enough_votes: int = ENOUGH_VOTES
    raters: tuple[Agreement, ...] = Field(description="Over all pairs: mostly disputed ones.")
    alike: tuple[Agreement, ...] = Field(description="Over uniformly drawn pairs.")
