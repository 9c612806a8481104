"""Non-blocking interface of the planner: questions and replies.

`rlaif.trainer.planning` implements it; `rlaif.testing.planner.scripted_planner` is a fake.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Mode, Plan, Suggestion
from rlaif.trainer.play.planner_counts import Outcome, PlannerCounts

Kind = Literal["plan", "suggestion"]
"""Kind of answer: a list of macros (takeover), or one button (guidance)."""


@dataclass(frozen=True)
class PlannerQuestion:
    """One question to a language model.

    Attributes:
        env: Index of the environment in its runner.
        mode: The route; `vision` reads `picture`.
        kind: Kind of the requested answer.
        situation: Key of the situation. Questions of one mode and kind with equal keys have
            interchangeable answers, so it covers everything that an answer depends on.
        evidence: Description of the state for the model (`rlaif.game.description`).
        picture: The screen as JPEG; None without one.
        asked_step: Emulator step of the environment, for the asker's own use.
    """

    env: int
    mode: Mode
    kind: Kind
    situation: str
    evidence: Briefing
    picture: bytes | None = None
    asked_step: int = 0


@dataclass(frozen=True)
class PlannerReply:
    """The end of one question.

    Attributes:
        question: The object that was passed to `ask`.
        outcome: Only `ok` has a plan or a suggestion.
        plan: Answer to a question of kind `plan`.
        suggestion: Answer to a question of kind `suggestion`.
        latency_seconds: From `ask` to the answer, queueing included.
        cached: No call of its own was made: an equal question was answered or in flight.
        detail: Error message; None for `ok`.
    """

    question: PlannerQuestion
    outcome: Outcome
    plan: Plan | None = None
    suggestion: Suggestion | None = None
    latency_seconds: float = 0.0
    cached: bool = False
    detail: str | None = None


class Planner(Protocol):
    """Answers questions asynchronously; no method blocks."""

    def ask(self, question: PlannerQuestion) -> bool:
        """Accept a question, which then has exactly one reply unless the planner is closed.

        False if it is rejected, for example because too many are in flight.
        """
        ...

    def refuses(self, mode: Mode, kind: Kind, about: str) -> bool:
        """Whether `ask` would reject a question whose `situation` starts with `about`.

        If so, it counts as a rejected question. This saves the cost of building one.
        """
        ...

    def replies(self) -> list[PlannerReply]:
        """Replies since the last call, oldest first."""
        ...

    def counts(self) -> PlannerCounts: ...

    def close(self) -> None: ...
