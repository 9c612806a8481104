"""Takeover: when a planner is asked for a plan, and how much of the play it may have."""

from pydantic import BaseModel, Field


class TakeoverSettings(BaseModel, frozen=True, extra="forbid"):
    """The limits of what a planner plays; nothing of it counts without a planner."""

    share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Share of an episode's steps so far that the planner may have played when it "
        "is asked again. More shows the policy more of what it does not reach itself, and leaves "
        "it less to learn from. 0 takes nothing over.",
    )
    most_steps: int = Field(
        default=400,
        ge=1,
        description="Decision steps of one takeover at most; 400 are 27 seconds in the game. More "
        "let longer plans come to their end, and let a bad one go on for longer.",
    )
    looks: int = Field(
        default=3,
        ge=1,
        description="Decision steps in a row that must show a dialog or a puzzle, or none, before "
        "that counts; the seeds fix 3. More ask later, fewer ask about what is over at once.",
    )
    rest_steps: int = Field(
        default=300,
        ge=0,
        description="Decision steps without a question after a takeover that failed or had no "
        "effect, and after a question whose answer was none, or came too late. It doubles with "
        "each one in a row, up to 16 times; dialogs and puzzles rest apart. A question costs as "
        "much time as some 40 steps of play (ADR 0023): fewer ask the same again and again.",
    )
    patience_steps: int = Field(
        default=20_000,
        ge=1,
        description="Decision steps of an environment after which it asks again although no "
        "answer came; one that comes later is dropped. The planner's own deadline is sooner.",
    )
