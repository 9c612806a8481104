"""Requests to the language model that assists play, and their outcomes."""

from typing import Annotated, Literal

from pydantic import Field

from rlaif.contracts.model import Amount, Contract, Count, Seconds

Counts = dict[str, Count]

LATENCY_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Upper bounds of the latency buckets, in seconds; the last bucket is unbounded."""

MAX_WANTED = 8
WANTED_CHARACTERS = 120
WHY_CHARACTERS = 200


class AssistanceEvent(Contract):
    """One request to the language model, reported once its outcome is final."""

    kind: Literal["plan", "suggestion"] = Field(
        description="A plan: macros to play (takeover); a suggestion: one button (guidance)."
    )
    mode: str = Field(description="The planner's route: vision, dialog or puzzle.")
    env: str = Field(description="Numbers of the runner and of its environment, such as 1-0.")
    step: Count = Field(description="Emulator step of the environment at the request.")
    call: str = Field(
        description="Outcome of the call: ok, invalid, timeout, throttled, refused, error, dropped."
    )
    wanted: tuple[Annotated[str, Field(max_length=WANTED_CHARACTERS)], ...] = Field(
        default=(),
        max_length=MAX_WANTED,
        description="The macros or the button; empty without a usable answer.",
    )
    reason: str = Field(
        default="",
        max_length=WHY_CHARACTERS,
        description="Given by the model; empty without a usable answer.",
    )
    followed: bool | None = Field(
        default=None,
        description="The plan was played, or the policy chose the button in time; null without a "
        "usable answer.",
    )
    ending: str = Field(
        default="",
        description="Of a plan that was played `done`, or the cause of its early end; of another "
        "stale, dropped or refused. Of a suggestion followed, declined, expired, left or replaced. "
        "Empty without a usable answer.",
    )
    ending_reason: str = Field(
        default="", max_length=WHY_CHARACTERS, description="Details of the ending or the failure."
    )
    steps: Count = Field(default=0, description="Emulator steps of the executed plan.")
    latency_seconds: Seconds | None = Field(default=None, description="From request to answer.")
    cached: bool = Field(default=False, description="Answer to an earlier equal request.")


class ModeFigures(Contract):
    """Counts of one route of the planner."""

    calls: Counts = Field(
        default_factory=dict,
        description="Requests by outcome: ok, invalid, timeout, throttled, refused, error, "
        "dropped. Cached answers count as `ok`.",
    )
    not_asked: Counts = Field(
        default_factory=dict,
        description="Requests that were not sent: busy (too many in flight), resting (outage of "
        "the route), paced (too many calls per second), closed.",
    )
    cached: Count = Field(default=0, description="Answers from the cache.")
    in_flight: Count = Field(default=0, description="Requests without an answer yet.")
    timed: Count = Field(default=0, description="Calls of known duration.")
    seconds: Seconds = Field(default=0.0, description="Sum of these durations.")
    tokens_read: Count = 0
    tokens_written: Count = 0
    plans: Counts = Field(
        default_factory=dict, description="Plans by outcome: taken, stale, dropped, refused."
    )
    takeovers: Counts = Field(
        default_factory=dict, description="Ended takeovers by ending: done, or the cause."
    )
    planner_steps: Count = Field(default=0, description="Steps played by the planner.")
    suggestions: Counts = Field(
        default_factory=dict,
        description="Suggestions: given, and outcomes: followed, declined, expired, left (the "
        "room, the episode or the policy's turn ended), replaced.",
    )
    bonus: Amount = Field(default=0.0, description="Reward for following suggestions.")
