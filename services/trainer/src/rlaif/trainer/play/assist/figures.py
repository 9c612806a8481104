"""Counts and newest events of the language model in a fragment; they add up over runners."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import islice, zip_longest
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import (
    MAX_WANTED,
    WANTED_CHARACTERS,
    WHY_CHARACTERS,
    AssistanceEvent,
    ModeFigures,
)
from rlaif.trainer.play.planner_counts import ModeCounts, PlannerCounts, added

MAX_EVENTS = 20
"""Events per account; older ones are dropped, the counts include them."""

Table: TypeAlias = dict[Mode, dict[str, int]]
"""Mode → outcome → number."""

PlanFate = Literal["taken", "stale", "dropped", "refused"]
"""Outcome of a plan that arrived: executed; the situation had changed; takeovers were no longer
allowed; its macros cannot be executed."""

SuggestionFate = Literal["followed", "declined", "expired", "left", "replaced"]
"""End of a suggestion: the policy chose its button; or another one, as often as it was compared;
it expired; the room, the episode or the policy's control ended; a newer one arrived."""

DONE = "done"
"""End of a takeover whose plan was completed; other ends are named by their cause."""


@dataclass
class AssistanceFigures:
    """Figures of one runner, or of several.

    Attributes:
        planner: Counts of the calls.
        plans: Plans that arrived, by their fate (`PlanFate`).
        takeovers: Takeovers that ended, by `done` or the cause.
        planner_steps: Emulator steps that the planner played.
        suggestions: Suggestions that arrived (`given`) or ended, by their fate (`SuggestionFate`).
        bonus: Reward for choices that followed a suggestion.
        events: Newest events, oldest first, at most `MAX_EVENTS`.
    """

    planner: PlannerCounts = field(default_factory=PlannerCounts)
    plans: Table = field(default_factory=dict)
    takeovers: Table = field(default_factory=dict)
    planner_steps: dict[Mode, int] = field(default_factory=dict)
    suggestions: Table = field(default_factory=dict)
    bonus: dict[Mode, float] = field(default_factory=dict)
    events: list[AssistanceEvent] = field(default_factory=list)

    def __add__(self, other: "AssistanceFigures") -> "AssistanceFigures":
        total: AssistanceFigures = added(self, other)
        del total.events[:-MAX_EVENTS]
        return total

    def note_event(self, event: AssistanceEvent) -> None:
        self.events.append(event)
        del self.events[:-MAX_EVENTS]

    def by_mode(self) -> dict[str, ModeFigures]:
        """Counts for the report, without modes that have none."""
        calls = self.planner.by_mode
        modes = {
            *calls, *self.planner.in_flight, *self.plans, *self.takeovers, *self.planner_steps,
            *self.suggestions, *self.bonus,
        }  # fmt: skip
        return {
            mode: ModeFigures(
                **_calls(calls.get(mode, ModeCounts())),
                in_flight=self.planner.in_flight.get(mode, 0),
                plans=self.plans.get(mode, {}),
                takeovers=self.takeovers.get(mode, {}),
                planner_steps=self.planner_steps.get(mode, 0),
                suggestions=self.suggestions.get(mode, {}),
                bonus=self.bonus.get(mode, 0.0),
            )
            for mode in sorted(modes)
        }

    def plain(self) -> dict[str, Any]:
        return asdict(self) | {"events": [event.model_dump(mode="json") for event in self.events]}

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AssistanceFigures":
        return _FIGURES.validate_python(values)


_FIGURES = TypeAdapter(AssistanceFigures)


def count(table: Table, mode: Mode, outcome: str) -> None:
    """Add one to a count."""
    outcomes = table.setdefault(mode, {})
    outcomes[outcome] = outcomes.get(outcome, 0) + 1


def summed(accounts: Iterable[AssistanceFigures | None]) -> AssistanceFigures | None:
    """The sum over all runners; None if none of them has a planner.

    Its events are the newest of each runner in turn, as runners share no clock.
    """
    known = [account for account in accounts if account is not None]
    if not known:
        return None
    total = sum(known, start=AssistanceFigures())
    rows = zip_longest(*(reversed(account.events) for account in known))
    newest_first = (event for row in rows for event in row if event is not None)
    total.events = list(islice(newest_first, MAX_EVENTS))[::-1]
    return total


def wanted(words: Iterable[str]) -> tuple[str, ...]:
    """A model's request, truncated for an event."""
    return tuple(_short(each, WANTED_CHARACTERS) for each in islice(words, MAX_WANTED))


def reason(text: str) -> str:
    """A reason of a model or an error, truncated for an event."""
    return _short(text, WHY_CHARACTERS)


def _short(text: str, limit: int) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text[:limit])
    return printable if len(text) <= limit else printable[:-1] + "…"


def _calls(counts: ModeCounts) -> dict[str, Any]:
    return {
        "calls": dict(counts.outcomes),
        "not_asked": dict(counts.not_asked),
        "cached": counts.cached,
        "timed": sum(counts.latency),
        "seconds": counts.latency_seconds,
        "tokens_read": counts.tokens_read,
        "tokens_written": counts.tokens_written,
    }
