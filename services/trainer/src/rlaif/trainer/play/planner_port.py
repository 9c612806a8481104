"""What play needs of a planner: questions in, replies out, and never a moment of waiting.

Play knows neither the web nor language models. `rlaif.trainer.planning` is the planner behind this
port, `rlaif.testing.scripted_planner` a stand-in for tests.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Mode, Plan, Suggestion
from rlaif.trainer.play.planner_counts import Outcome, PlannerCounts

Kind = Literal["plan", "suggestion"]
"""What is asked for: a list of macros (takeover), or one button (guidance)."""


@dataclass(frozen=True)
class PlannerQuestion:
    """One question to a language model.

    Attributes:
        env: Index of the environment in its runner.
        mode: The route; `vision` looks at `picture`.
        kind: What is asked for.
        situation: Key of the situation. Questions of one mode and kind with equal keys have equal
            answers for a while, so it contains everything that an answer depends on.
        evidence: Description of the state for the model (`rlaif.game.description`).
        picture: The screen as JPEG; None without one.
        asked_step: Decision step of the environment, counted as the asker likes.
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
    """How one question ended.

    Attributes:
        question: The very object that was asked.
        outcome: `ok` and none other has a plan or a suggestion.
        plan: What was asked for with kind `plan`.
        suggestion: What was asked for with kind `suggestion`.
        latency_seconds: From `ask` until the answer was there, waiting for a turn included.
        cached: No call of its own was made: an equal situation was answered before, or was being
            asked at that moment.
        detail: What went wrong, in words for people; None for `ok`.
    """

    question: PlannerQuestion
    outcome: Outcome
    plan: Plan | None = None
    suggestion: Suggestion | None = None
    latency_seconds: float = 0.0
    cached: bool = False
    detail: str | None = None


class Planner(Protocol):
    """Who answers questions, some time later; no method ever waits for an answer."""

    def ask(self, question: PlannerQuestion) -> bool:
        """Take a question; False when it is not asked, such as with too many in flight.

        A question that was taken has exactly one reply, unless the planner is closed before.
        """
        ...

    def refuses(self, mode: Mode, kind: Kind, about: str) -> bool:
        """Whether `ask` would reject a question whose `situation` begins with `about`.

        Then it counts as one that was asked and not taken: who makes it only if this says no spares
        the work, and nothing else is different.
        """
        ...

    def replies(self) -> list[PlannerReply]:
        """Those that came since the last call, in the order in which they came."""
        ...

    def counts(self) -> PlannerCounts: ...

    def close(self) -> None: ...
