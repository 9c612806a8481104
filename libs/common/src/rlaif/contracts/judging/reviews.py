"""The review over REST: pairs for people, their votes, and how far judges agree with them.

The reward-model service answers with these; the HUD passes them on.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from rlaif.contracts.judging.votes import Choice, VoteRecord
from rlaif.contracts.model import Id

PAIR_PATTERN = r"^[a-z0-9][a-z0-9-]{0,63}--[a-z0-9][a-z0-9-]{0,63}$"
"""Id of a pair: both segments, the smaller id first."""

MAX_NEXT = 8
"""Pairs that are given at once: a page wants to have the next one ready, and no list."""

ENOUGH_VOTES = 20
"""Votes from which on a kappa says anything: at 20 its interval is about 0.4 to each side."""

ActorName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]


class Clip(BaseModel, frozen=True):
    """One segment of a pair, as far as it may be known before the vote."""

    segment_id: Id
    episode_id: Id
    decision_steps: int = Field(ge=1)


class PairToReview(BaseModel, frozen=True):
    """Two segments to be compared; what judges, RAM and model say of them is not in it."""

    pair_id: str = Field(pattern=PAIR_PATTERN)
    a: Clip
    b: Clip


class PairList(BaseModel, frozen=True):
    """Pairs to review, most wanted first."""

    items: tuple[PairToReview, ...]
    labels: int = Field(description="Labels that pairs are made of; two of one side make a pair.")


class VoteRequest(BaseModel, frozen=True, extra="forbid"):
    """A person's answer."""

    actor: ActorName = Field(description="Who says it; kept in the log.")
    a: Id = Field(description="Segment that was shown as A.")
    choice: Choice
    blind: bool = Field(
        description="Whether nothing that anybody else says of the pair was shown before."
    )


class UndoRequest(BaseModel, frozen=True, extra="forbid"):
    """Who takes a vote back."""

    actor: ActorName


class Word(BaseModel, frozen=True):
    """What one call of a language model said of one of the two."""

    of: Literal["a", "b"]
    judge: str
    model: str
    vote: int
    text: str


class VoteReport(BaseModel, frozen=True):
    """A vote, and what the judges say of the pair."""

    record: VoteRecord
    agreed: int = Field(description="Judges who say the same as the vote.")
    asked: int = Field(description="Judges who have an opinion of this pair.")
    words: tuple[Word, ...] = Field(description="Of the judges' calls.")


class Agreement(BaseModel, frozen=True):
    """How far one rater and people say the same; what is not known is null."""

    rater: str
    votes: int = Field(description="Blind votes on pairs of which the rater has an opinion.")
    pairs: int = Field(description="Pairs that these are about.")
    agreed: int = Field(description="Those of which both said the same.")
    kappa: float | None = Field(
        description="Cohen's kappa; null when everybody always gave one answer."
    )
    low: float | None = Field(description="Lower end of its 95 % interval over pairs.")
    high: float | None
    enough: bool = Field(description="Whether there are votes enough to speak of a kappa.")


class AgreementReport(BaseModel, frozen=True):
    """Judges against people."""

    votes: int = Field(description="Votes ever cast, without those that skipped.")
    blind: int = Field(description="Those cast before any other word was seen: these are counted.")
    undone: int = Field(description="Withdrawn votes; blind ones among them are counted.")
    skipped: int
    people: int = Field(description="Number of distinct voters, by the names they gave.")
    teaching: int = Field(
        default=0, description="Pairs of labels that people voted on: the next training has them."
    )
    enough_votes: int = ENOUGH_VOTES
    raters: tuple[Agreement, ...] = Field(description="Over all pairs: mostly disputed ones.")
    alike: tuple[Agreement, ...] = Field(description="Over pairs that were drawn from all alike.")
