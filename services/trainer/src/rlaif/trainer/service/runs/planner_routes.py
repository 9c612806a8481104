"""Which routes of the planner give no answer now, by what the iterations tell of their calls."""

from collections.abc import Mapping
from dataclasses import dataclass

from rlaif.contracts.assistance import AssistanceEvent, ModeFigures
from rlaif.trainer.run_folder.protocol import AssistanceDone

UNANSWERED = ("timeout", "throttled", "refused", "error")
"""Outcomes of calls that brought nothing; an `invalid` answer is an answer, and what was `dropped`
was not asked to the end."""

OUTAGE_CALLS = 3
"""Calls without an answer in a row that are no accident any more."""


@dataclass(frozen=True)
class Silence:
    """What a route did since it answered last.

    Attributes:
        calls: Calls without an answer.
        outcome: How most of the newest of them ended.
        why: The same in words, as far as it was told; may be empty.
        rests: The planner does not ask it for a while.
    """

    calls: int
    outcome: str
    why: str
    rests: bool

    @property
    def is_outage(self) -> bool:
        """Whether it is more than an accident."""
        return self.rests or self.calls >= OUTAGE_CALLS

    def sentence(self, mode: str) -> str:
        """What is wrong, and what that means."""
        calls = "call" if self.calls == 1 else f"{self.calls} calls"
        why = f" ({self.why})" if self.why else ""
        return (
            f"planner route {mode} gives no answer: the newest {calls} ended with "
            f"{self.outcome}{why}; training goes on without it"
        )


Silences = Mapping[str, Silence]
"""Route → what it did since its last answer; those that answered last are not in it."""


def silences_after(before: Silences, told: AssistanceDone) -> Silences:
    """Fold one iteration in; a route that was not asked stays as it was."""
    after = dict(before)
    for mode, figures in told.by_mode.items():
        answered = figures.calls.get("ok", 0) + figures.calls.get("invalid", 0) - figures.cached
        unanswered = {name: figures.calls[name] for name in UNANSWERED if figures.calls.get(name)}
        if answered > 0:
            after.pop(mode, None)
        elif unanswered or mode in after:
            after[mode] = _longer(after.get(mode), mode, unanswered, figures, told.events)
    return after


def outages(silences: Silences) -> dict[str, str]:
    """Route that is down → one sentence."""
    return {mode: each.sentence(mode) for mode, each in silences.items() if each.is_outage}


def _longer(
    before: Silence | None,
    mode: str,
    unanswered: dict[str, int],
    figures: ModeFigures,
    events: list[AssistanceEvent],
) -> Silence:
    known = before or Silence(0, "error", "", rests=False)
    whys = [event.ending_reason for event in events if event.mode == mode and event.call != "ok"]
    return Silence(
        calls=known.calls + sum(unanswered.values()),
        outcome=max(unanswered, key=lambda name: unanswered[name], default=known.outcome),
        why=next((why for why in reversed(whys) if why), known.why),
        rests=figures.not_asked.get("resting", 0) > 0 or (known.rests and not unanswered),
    )
