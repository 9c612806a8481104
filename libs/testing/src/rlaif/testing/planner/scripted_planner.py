"""An in-memory planner whose answers and timing are set by a test."""

from collections.abc import Callable
from dataclasses import replace

from rlaif.contracts.planning.plans import Mode, Plan, Suggestion
from rlaif.trainer.play.planner_counts import ModeCounts, Outcome, PlannerCounts, one_call
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion, PlannerReply

Script = Callable[[PlannerQuestion], Plan | Suggestion | Outcome]
"""Result of a question: an answer of the requested kind, or a failure."""


class ScriptedPlanner:
    """Fulfills the port's contract: one reply per question, and none after `close`.

    A question waits until `answer` is called; with `at_once` it is answered by the next `replies`.

    Attributes:
        asked: All accepted questions, in order.
        waiting: Those without a reply.
        closed: Whether `close` was called.
    """

    def __init__(
        self, script: Script, *, most_in_flight: int = 1_000_000, at_once: bool = False
    ) -> None:
        self._script = script
        self._most, self._at_once = most_in_flight, at_once
        self.asked: list[PlannerQuestion] = []
        self.waiting: list[PlannerQuestion] = []
        self.closed = False
        self._ready: list[PlannerReply] = []
        self._counts = PlannerCounts()

    def ask(self, question: PlannerQuestion) -> bool:
        """Accept it, unless too many are waiting or the planner is closed."""
        if self.refuses(question.mode, question.kind, question.situation):
            return False
        self.asked.append(question)
        self.waiting.append(question)
        self._count(question.mode, ModeCounts(asked=1))
        return True

    def refuses(self, mode: Mode, kind: Kind, about: str) -> bool:
        """Whether too many are waiting or it is closed; such a question counts as not asked."""
        if not self.closed and len(self.waiting) < self._most:
            return False
        self._count(mode, ModeCounts(not_asked={"closed" if self.closed else "busy": 1}))
        return True

    def answer(self, number: int | None = None) -> None:
        """Answer the first `number` waiting questions; None for all."""
        due = self.waiting[:number]
        del self.waiting[: len(due)]
        for question in due:
            reply = _reply(question, self._script(question), 0.5)
            self._count(question.mode, one_call(reply.outcome, 0.5))
            self._ready.append(reply)

    def replies(self) -> list[PlannerReply]:
        """Return the replies since the last call."""
        if self._at_once:
            self.answer()
        ready, self._ready = self._ready, []
        return ready

    def counts(self) -> PlannerCounts:
        """Return the statistics since the last call."""
        counts, self._counts = self._counts, PlannerCounts()
        in_flight: dict[Mode, int] = {}
        for question in self.waiting:
            in_flight[question.mode] = in_flight.get(question.mode, 0) + 1
        return replace(counts, in_flight=in_flight)

    def close(self) -> None:
        self.closed = True
        self.waiting.clear()
        self._ready.clear()

    def _count(self, mode: Mode, counts: ModeCounts) -> None:
        self._counts += PlannerCounts({mode: counts})


def _reply(
    question: PlannerQuestion, answer: Plan | Suggestion | Outcome, seconds: float
) -> PlannerReply:
    if isinstance(answer, Plan):
        return PlannerReply(question, "ok", plan=answer, latency_seconds=seconds)
    if isinstance(answer, Suggestion):
        return PlannerReply(question, "ok", suggestion=answer, latency_seconds=seconds)
    return PlannerReply(question, answer, latency_seconds=seconds, detail="scripted")
