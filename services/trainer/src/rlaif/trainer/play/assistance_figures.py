"""What the language model did in a fragment: plans and suggestions in, counts and the newest out.

One account for each runner, from one fragment to the next. Accounts add up over runners and over
time. All tables are by mode, and then by outcome, so that they are plain JSON.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import islice, zip_longest
from typing import Any, Literal, TypeAlias

LATENCY_BOUNDS_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the histogram's buckets, from the cache of a scripted model to a vision model;
one more bucket takes what is slower."""

MOST_EVENTS = 20
"""Of one account; the oldest are forgotten, the counts have them all."""

_MOST_WANTED = 8
_LONGEST_WORDS = 80
_LONGEST_REASON = 200

Table: TypeAlias = dict[str, dict[str, int]]
"""Mode → outcome → how often."""

PlanFate = Literal["taken", "stale", "dropped", "refused"]
"""What became of a plan that arrived: played; the room or the situation had changed; no takeover
was allowed any more; its macros could not be played."""

SuggestionFate = Literal["given", "followed", "expired"]
"""`given` counts each that arrived, the others how it ended."""

DONE = "done"
"""How a takeover ended that came to the end of its plan. The others are named by their cause."""


@dataclass(frozen=True)
class AssistanceEvent:
    """One question to the language model, told when nothing more can come of it.

    Attributes:
        kind: What was asked for.
        mode: The planner's route: vision, dialog or puzzle.
        env: The environment, by the runner's and its own number, such as `1-0`.
        step: Decision step of the episode at which it was asked.
        call: How the call ended: ok, invalid, timeout, throttled, refused, error or dropped.
        wanted: What it asked for, in words, one line for each macro, or the button; empty without
            a usable answer.
        reason: Why, in the model's words; empty without a usable answer.
        followed: The plan was played, or the policy chose the button in time; None without a
            usable answer.
        ending: For a plan `done`, or why not: the cause, or its fate (`stale` and so on). For a
            suggestion `followed` or `expired`. Else as `call`.
        steps: Decision steps that the plan played.
        latency_seconds: From question to answer; None when none was measured.
        cached: The answer was known from the same situation before.
    """

    kind: Literal["plan", "suggestion"]
    mode: str
    env: str
    step: int
    call: str
    wanted: tuple[str, ...] = ()
    reason: str = ""
    followed: bool | None = None
    ending: str = ""
    steps: int = 0
    latency_seconds: float | None = None
    cached: bool = False


@dataclass
class LatencyHistogram:
    """Calls by how long they took.

    Attributes:
        counts: Calls in each bucket, not cumulated: one more than there are bounds.
        seconds: Sum over all calls.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS_SECONDS) + 1))
    seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one call."""
        self.counts[bisect_left(LATENCY_BOUNDS_SECONDS, seconds)] += 1
        self.seconds += seconds

    def add(self, other: "LatencyHistogram") -> None:
        """Count what the other counted, too."""
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.seconds += other.seconds


@dataclass
class AssistanceFigures:
    """The account of one runner, or of several.

    Attributes:
        calls: Answers of the planner, by outcome; cached ones among them.
        cached: Mode → answers that came out of the cache.
        not_asked: Mode → questions that were not asked, as too many were in flight.
        latencies: Mode → calls that were made, by how long they took.
        plans: Plans that arrived, by their fate (`PlanFate`).
        takeovers: Takeovers that ended, by `done` or the cause.
        planner_steps: Mode → decision steps that the planner played.
        suggestions: By their fate (`SuggestionFate`).
        bonus: Mode → reward paid for choices that followed a suggestion.
        in_flight: Questions without an answer at the end of the fragment.
        events: What happened last, oldest first.
    """

    calls: Table = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)
    not_asked: dict[str, int] = field(default_factory=dict)
    latencies: dict[str, LatencyHistogram] = field(default_factory=dict)
    plans: Table = field(default_factory=dict)
    takeovers: Table = field(default_factory=dict)
    planner_steps: dict[str, int] = field(default_factory=dict)
    suggestions: Table = field(default_factory=dict)
    bonus: dict[str, float] = field(default_factory=dict)
    in_flight: int = 0
    events: list[AssistanceEvent] = field(default_factory=list)

    def note_call(self, mode: str, outcome: str, latency_seconds: float, *, cached: bool) -> None:
        """The planner answered, or gave up."""
        _count(self.calls, mode, outcome)
        if cached:
            self.cached[mode] = self.cached.get(mode, 0) + 1
        else:
            self.latencies.setdefault(mode, LatencyHistogram()).observe(latency_seconds)

    def note_not_asked(self, mode: str) -> None:
        """A question was not asked, as too many were in flight."""
        self.not_asked[mode] = self.not_asked.get(mode, 0) + 1

    def note_plan(self, mode: str, fate: PlanFate) -> None:
        """A plan arrived."""
        _count(self.plans, mode, fate)

    def note_planner_steps(self, mode: str, steps: int = 1) -> None:
        """The planner played instead of the policy."""
        self.planner_steps[mode] = self.planner_steps.get(mode, 0) + steps

    def note_takeover(self, mode: str, ending: str) -> None:
        """A takeover ended, `done` or by a cause."""
        _count(self.takeovers, mode, ending)

    def note_suggestion(self, mode: str, fate: SuggestionFate) -> None:
        """A suggestion arrived, or came to its end."""
        _count(self.suggestions, mode, fate)

    def note_bonus(self, mode: str, amount: float) -> None:
        """A choice was paid for following a suggestion."""
        self.bonus[mode] = self.bonus.get(mode, 0.0) + amount

    def note_event(self, event: AssistanceEvent) -> None:
        """Keep it among the newest; what a model wrote is cut to a bounded, printable text."""
        wanted = tuple(_short(each, _LONGEST_WORDS) for each in event.wanted[:_MOST_WANTED])
        self.events.append(
            replace(event, wanted=wanted, reason=_short(event.reason, _LONGEST_REASON))
        )
        del self.events[:-MOST_EVENTS]

    def add(self, other: "AssistanceFigures") -> None:
        """Take in what another runner, or a later fragment, counted."""
        for name in ("calls", "plans", "takeovers", "suggestions"):
            mine: Table = getattr(self, name)
            for mode, outcomes in getattr(other, name).items():
                for outcome, times in outcomes.items():
                    _count(mine, mode, outcome, times)
        for name in ("cached", "not_asked", "planner_steps", "bonus"):
            sums: dict[str, float] = getattr(self, name)
            for mode, amount in getattr(other, name).items():
                sums[mode] = sums.get(mode, 0) + amount
        for mode, histogram in other.latencies.items():
            self.latencies.setdefault(mode, LatencyHistogram()).add(histogram)
        self.in_flight += other.in_flight
        self.events = [*self.events, *other.events][-MOST_EVENTS:]

    def plain(self) -> dict[str, Any]:
        """As plain values, for a checkpoint and for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "AssistanceFigures":
        """What `plain` gave; fields of a newer or older version are left out."""
        known = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        known["latencies"] = {
            mode: LatencyHistogram(list(each["counts"]), each["seconds"])
            for mode, each in known.get("latencies", {}).items()
        }
        known["events"] = [
            AssistanceEvent(**{**each, "wanted": tuple(each["wanted"])})
            for each in known.get("events", ())
        ]
        return cls(**known)


def summed(accounts: Iterable[AssistanceFigures | None]) -> AssistanceFigures | None:
    """One account of all runners; None when none of them has a planner.

    Its events are the newest of each runner in turn: runners have no clock in common.
    """
    told = [account for account in accounts if account is not None]
    if not told:
        return None
    total = AssistanceFigures()
    for account in told:
        total.add(account)
    total.events = _newest_of_each([account.events for account in told])
    return total


def _short(text: str, most: int) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable if len(printable) <= most else printable[: most - 1] + "…"


def _count(table: Table, mode: str, outcome: str, times: int = 1) -> None:
    outcomes = table.setdefault(mode, {})
    outcomes[outcome] = outcomes.get(outcome, 0) + times


def _newest_of_each(kept: list[list[AssistanceEvent]]) -> list[AssistanceEvent]:
    """The newest of each, then the next newest of each, until there are `MOST_EVENTS`."""
    rows = zip_longest(*(reversed(events) for events in kept))
    newest_first = (event for row in rows for event in row if event is not None)
    return list(islice(newest_first, MOST_EVENTS))[::-1]
