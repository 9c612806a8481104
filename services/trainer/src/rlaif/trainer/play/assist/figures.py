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
from rlaif.trainer.play.planner_counts import ModeCounts, PlannerCounts

MAX_EVENTS = 20
"""Of one account; the oldest are forgotten, the counts have them all."""

Table: TypeAlias = dict[Mode, dict[str, int]]
"""Mode → outcome → how often."""

PlanFate = Literal["taken", "stale", "dropped", "refused"]
"""What became of a plan that arrived: played; the room or the situation had changed; no takeover
was allowed any more; its macros could not be played."""

SuggestionFate = Literal["given", "followed", "declined", "expired", "left", "replaced"]
"""`given` counts each that arrived, the others how it ended: the policy chose its button; or others
each time that it was compared; it was too old; room, episode or turn was over; a newer one came."""

DONE = "done"
"""How a takeover ended that came to the end of its plan. The others are named by their cause."""


@dataclass
class AssistanceFigures:
    """The account of one runner, or of several.

    Attributes:
        planner: How the calls ended; the planner's own count.
        plans: Plans that arrived, by their fate (`PlanFate`).
        takeovers: Takeovers that ended, by `done` or the cause.
        planner_steps: Decision steps that the planner played.
        suggestions: By their fate (`SuggestionFate`).
        bonus: Reward paid for choices that followed a suggestion.
        events: What happened last, oldest first, at most `MAX_EVENTS`.
    """

    planner: PlannerCounts = field(default_factory=PlannerCounts)
    plans: Table = field(default_factory=dict)
    takeovers: Table = field(default_factory=dict)
    planner_steps: dict[Mode, int] = field(default_factory=dict)
    suggestions: Table = field(default_factory=dict)
    bonus: dict[Mode, float] = field(default_factory=dict)
    events: list[AssistanceEvent] = field(default_factory=list)

    def note_plan(self, mode: Mode, fate: PlanFate) -> None:
        """A plan arrived."""
        _count(self.plans, mode, fate)

    def note_planner_steps(self, mode: Mode, steps: int = 1) -> None:
        """The planner played instead of the policy."""
        self.planner_steps[mode] = self.planner_steps.get(mode, 0) + steps

    def note_takeover(self, mode: Mode, ending: str) -> None:
        """A takeover ended, `done` or by a cause."""
        _count(self.takeovers, mode, ending)

    def note_suggestion(self, mode: Mode, fate: SuggestionFate) -> None:
        """A suggestion arrived, or came to its end."""
        _count(self.suggestions, mode, fate)

    def note_bonus(self, mode: Mode, amount: float) -> None:
        """A choice was paid for following a suggestion."""
        self.bonus[mode] = self.bonus.get(mode, 0.0) + amount

    def note_event(self, event: AssistanceEvent) -> None:
        """Keep it among the newest."""
        self.events.append(event)
        del self.events[:-MAX_EVENTS]

    def add(self, other: "AssistanceFigures") -> None:
        """Take in what another runner, or a later fragment, counted."""
        self.planner += other.planner
        for mine, theirs in (
            (self.plans, other.plans),
            (self.takeovers, other.takeovers),
            (self.suggestions, other.suggestions),
        ):
            for mode, outcomes in theirs.items():
                for outcome, times in outcomes.items():
                    _count(mine, mode, outcome, times)
        for mode, steps in other.planner_steps.items():
            self.note_planner_steps(mode, steps)
        for mode, amount in other.bonus.items():
            self.note_bonus(mode, amount)
        self.events = [*self.events, *other.events][-MAX_EVENTS:]

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
        """As plain values, for a checkpoint."""
        return asdict(self) | {"events": [event.model_dump(mode="json") for event in self.events]}

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AssistanceFigures":
        """The account that `plain` gave."""
        return _FIGURES.validate_python(values)


_FIGURES = TypeAdapter(AssistanceFigures)


def summed(accounts: Iterable[AssistanceFigures | None]) -> AssistanceFigures | None:
    """One account of all runners; None when none of them has a planner.

    Its events are the newest of each runner in turn: runners have no clock in common.
    """
    known = [account for account in accounts if account is not None]
    if not known:
        return None
    total = AssistanceFigures()
    for account in known:
        total.add(account)
    total.events = _newest_of_each([account.events for account in known])
    return total


def wanted(words: Iterable[str]) -> tuple[str, ...]:
    """A model's request, bounded for an event."""
    return tuple(_short(each, WANTED_CHARACTERS) for each in islice(words, MAX_WANTED))


def reason(text: str) -> str:
    """A reason of a model or an error, bounded for an event."""
    return _short(text, WHY_CHARACTERS)


def _short(text: str, most: int) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text[:most])
    return printable if len(text) <= most else printable[:-1] + "…"


def _count(table: Table, mode: Mode, outcome: str, times: int = 1) -> None:
    outcomes = table.setdefault(mode, {})
    outcomes[outcome] = outcomes.get(outcome, 0) + times


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


def _newest_of_each(kept: list[list[AssistanceEvent]]) -> list[AssistanceEvent]:
    rows = zip_longest(*(reversed(events) for events in kept))
    newest_first = (event for row in rows for event in row if event is not None)
    return list(islice(newest_first, MAX_EVENTS))[::-1]
