"""What people say who were shown two segments without the judges' words: a log, one object a line.

`reward_model/votes/{number}.json` in the models' bucket; written once and never changed. To take a
vote back is another line.
"""

from typing import Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.model import Contract, Id

Lean = Literal["a", "b", "equal"]
"""Which of the two is better."""

Choice = Literal["a", "b", "equal", "skip"]
"""A person's answer; `skip` carries no opinion; this person is not asked again."""

WhyReviewed = Literal["networks", "judges", "judges_against_model", "uniform", "asked"]
"""Why a pair was shown: the reward model's networks disagree about it, the judges' votes hardly
order it, the reward model ranks it against the judges, it was drawn from all pairs alike, so that
agreement can be measured, or a person asked for this pair."""

PANEL, SIDE_BY_SIDE, RAM, MODEL = "panel", "side-by-side", "ram", "reward-model"
"""Raters that are no single judge: all judges together as the pair is learned without people, the
judge who was shown both, the counters of the game's RAM, the model that was live."""

WHOLE = frozenset({PANEL, SIDE_BY_SIDE, RAM, MODEL})


class Opinion(Contract):
    """What one rater said of the pair when the person voted."""

    rater: str = Field(
        description="A judge's name, or `panel`, `side-by-side`, `ram`, `reward-model`."
    )
    says: Lean | None = Field(description="Null: it has no opinion of one of the two.")
    margin: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="How much better it puts A, of its criteria's scale; of the reward model, "
        "2 P(A better) - 1.",
    )


class Verdict(Contract):
    """What was thought of the pair when the person voted; kept as it was then."""

    judge_config: Id | None = None
    model_version: int | None = Field(default=None, ge=1, description="The model that was live.")
    opinions: tuple[Opinion, ...] = ()

    def of(self, rater: str) -> Opinion | None:
        """The opinion of one rater; None when it was not asked."""
        return next((item for item in self.opinions if item.rater == rater), None)


class VoteRecord(Contract):
    """One line of the log: a vote, or the withdrawal of one."""

    schema_version: Literal[1] = 1
    number: int = Field(ge=1)
    kind: Literal["vote", "undo"]
    actor: str = Field(min_length=1, max_length=64, description="Name that the voter gave.")
    a: Id = Field(description="Segment that was shown as A.")
    b: Id
    choice: Choice | None = Field(default=None, description="Null in a withdrawal.")
    undoes: int | None = Field(default=None, ge=1, description="Number of the withdrawn vote.")
    blind: bool = Field(
        default=False, description="This person had not seen what anybody else says of the pair."
    )
    why: WhyReviewed = "asked"
    information: float | None = Field(
        default=None, ge=0, le=1, description="How much the pair was disputed when it was shown."
    )
    verdict: Verdict = Verdict()
    request_id: str = Field(
        default="", max_length=128, description="The same request sent again is no second vote."
    )
    created_at: AwareDatetime

    @property
    def pair(self) -> tuple[str, str]:
        """Both segments, the smaller id first."""
        return (self.a, self.b) if self.a < self.b else (self.b, self.a)
