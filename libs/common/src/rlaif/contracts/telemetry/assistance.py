"""Requests to the language model that assists play, and their outcomes."""

from typing import Annotated, Literal

from pydantic import Field

from rlaif.contracts.model import Contract

Counts = dict[str, Annotated[int, Field(ge=0)]]

LATENCY_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Upper edges of the buckets of latencies, in seconds; one bucket more holds what is slower."""

MAX_WANTED = 8
WANTED_CHARACTERS = 120
WHY_CHARACTERS = 200


class AssistanceEvent(Contract):
    """One request to the language model, reported once its outcome is final."""

    kind: Literal["plan", "suggestion"] = Field(
        description="What was asked for: macros to play (takeover), or one button (guidance)."
    )
    mode: str = Field(description="The planner's route: vision, dialog or puzzle.")
    env: str = Field(description="The runner's number and the environment's in it, such as 1-0.")
    step: int = Field(ge=0, description="Decision step of the environment when it was asked.")
    call: str = Field(
        description="How the call ended: ok, invalid, timeout, throttled, refused, error, dropped."
    )
    wanted: tuple[Annotated[str, Field(max_length=WANTED_CHARACTERS)], ...] = Field(
        default=(),
        max_length=MAX_WANTED,
        description="The macros in words, or the button; empty without a usable answer.",
    )
    reason: str = Field(
        default="",
        max_length=WHY_CHARACTERS,
        description="In the model's words; empty without a usable answer.",
    )
    followed: bool | None = Field(
        default=None,
        description="The plan was played, or the policy chose the button in time; null without a "
        "usable answer.",
    )
    ending: str = Field(
        default="",
        description="Of a plan that was played `done`, or the cause why it was not played to its "
        "end; of another its fate: stale, dropped or refused. Of a suggestion followed, "
        "declined, expired, left or replaced. Empty without a usable answer.",
    )
    ending_reason: str = Field(
        default="",
        max_length=WHY_CHARACTERS,
        description="More on the cause, or on why there is no usable answer.",
    )
    steps: int = Field(default=0, ge=0, description="Decision steps that the plan played.")
    latency_seconds: float | None = Field(
        default=None, ge=0, description="From question to answer."
    )
    cached: bool = Field(
        default=False, description="The answer was known from an equal situation: no call was made."
    )


class ModeFigures(Contract):
    """What happened on one route of the planner."""

    calls: Counts = Field(
        default_factory=dict,
        description="Questions by how they ended: ok, invalid, timeout, throttled, refused, error, "
        "dropped. Cached answers are among `ok`.",
    )
    not_asked: Counts = Field(
        default_factory=dict,
        description="Questions that were not asked: busy (too many in flight), resting (the route "
        "is taken for broken), paced (more calls per second than are allowed), closed.",
    )
    cached: int = Field(default=0, ge=0, description="Answers that cost no call.")
    in_flight: int = Field(default=0, ge=0, description="Questions that wait for an answer.")
    timed: int = Field(default=0, ge=0, description="Calls of which the time is known.")
    seconds: float = Field(default=0.0, ge=0, description="Sum of these times.")
    tokens_read: int = Field(default=0, ge=0)
    tokens_written: int = Field(default=0, ge=0)
    plans: Counts = Field(
        default_factory=dict, description="Plans by fate: taken, stale, dropped, refused."
    )
    takeovers: Counts = Field(
        default_factory=dict, description="Takeovers that ended: done, or the cause."
    )
    planner_steps: int = Field(default=0, ge=0, description="Steps that the planner played.")
    suggestions: Counts = Field(
        default_factory=dict,
        description="Suggestions: given, and of these how they ended: followed, declined, expired, "
        "left (the room, the episode or the policy's turn was over), replaced.",
    )
    bonus: float = Field(default=0.0, description="Paid for following suggestions.")
