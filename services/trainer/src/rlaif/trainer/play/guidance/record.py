"""What became of suggestions, for whoever watches: their ends in, counts and events out."""

from rlaif.contracts.assistance import AssistanceEvent
from rlaif.contracts.plans import Mode
from rlaif.trainer.play.assistance_figures import AssistanceFigures, reason, wanted
from rlaif.trainer.play.guidance.suggestion import KeptSuggestion
from rlaif.trainer.play.planner_port import PlannerReply

_MOST_EVENTS = 8
"""So many of the newest are told: there are more suggestions than plans, and both want room."""


class GuidanceRecord:
    """The guidance of one runner since it was last told."""

    def __init__(self, runner: int) -> None:
        """Environments are told by the number of their runner and their own."""
        self._runner = runner
        self._account = AssistanceFigures()

    def give(self, mode: Mode) -> None:
        """A suggestion arrived."""
        self._account.note_suggestion(mode, "given")

    def pay(self, mode: Mode, amount: float) -> None:
        """One was followed, and that was paid."""
        self._account.note_bonus(mode, amount)

    def end(self, n: int, suggestion: KeptSuggestion) -> None:
        """A suggestion for environment `n` counts no more; it has a fate."""
        assert suggestion.fate is not None
        self._account.note_suggestion(suggestion.mode, suggestion.fate)
        self._note(
            AssistanceEvent(
                kind="suggestion",
                mode=suggestion.mode,
                env=f"{self._runner}-{n}",
                step=suggestion.asked_step,
                call="ok",
                wanted=wanted([suggestion.button.name]),
                reason=reason(suggestion.reason),
                followed=suggestion.fate == "followed",
                ending=suggestion.fate,
                latency_seconds=suggestion.latency_seconds,
                cached=suggestion.cached,
            )
        )

    def fail(self, reply: PlannerReply) -> None:
        """A question had no usable answer."""
        question = reply.question
        self._note(
            AssistanceEvent(
                kind="suggestion",
                mode=question.mode,
                env=f"{self._runner}-{question.env}",
                step=question.asked_step,
                call=reply.outcome,
                ending_reason=reason(reply.detail or ""),
                latency_seconds=reply.latency_seconds,
            )
        )

    def tell(self, account: AssistanceFigures) -> None:
        """Add all of it to an account, and begin anew."""
        account.add(self._account)
        self._account = AssistanceFigures()

    def _note(self, event: AssistanceEvent) -> None:
        self._account.note_event(event)
        del self._account.events[:-_MOST_EVENTS]
