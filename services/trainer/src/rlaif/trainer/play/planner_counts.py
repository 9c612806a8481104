"""What the calls of a planner came to: plain counts that travel in a fragment."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import LATENCY_BUCKETS

Outcome = Literal["ok", "invalid", "timeout", "throttled", "refused", "error", "dropped"]
"""How a question that was taken ended.

`invalid`: an answer that does not fit the schema. `throttled`: the server asks for fewer calls.
`refused`: it does not take the request. `error`: no connection, or a server error. `dropped`: given
up, because the planner itself ended.
"""

NotAsked = Literal["busy", "resting", "paced", "closed"]
"""Why a question was not taken: too many in flight; the route is taken for broken; more calls a
second than are allowed; the planner is closed."""

_K = TypeVar("_K")
_NONE = (0,) * (len(LATENCY_BUCKETS) + 1)


@dataclass(frozen=True)
class ModeCounts:
    """Of one route.

    Attributes:
        asked: Questions that were taken.
        not_asked: Why → questions that were not.
        outcomes: How they ended → questions; those in flight are in none.
        cached: Questions that no call was made for: they had the answer of an equal one, or share
            its call. They are among `outcomes`.
        latency: `[11]`, calls by how long they took (`LATENCY_BUCKETS`).
        latency_seconds: Sum of these.
        tokens_read: Tokens of the prompts, if the server reports them.
        tokens_written: Tokens of the answers.
    """

    asked: int = 0
    not_asked: Mapping[NotAsked, int] = field(default_factory=dict)
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    cached: int = 0
    latency: tuple[int, ...] = _NONE
    latency_seconds: float = 0.0
    tokens_read: int = 0
    tokens_written: int = 0

    def __add__(self, other: "ModeCounts") -> "ModeCounts":
        return ModeCounts(
            self.asked + other.asked,
            _added(self.not_asked, other.not_asked),
            _added(self.outcomes, other.outcomes),
            self.cached + other.cached,
            tuple(a + b for a, b in zip(self.latency, other.latency, strict=True)),
            self.latency_seconds + other.latency_seconds,
            self.tokens_read + other.tokens_read,
            self.tokens_written + other.tokens_written,
        )


@dataclass(frozen=True)
class PlannerCounts:
    """Of all routes of one planner: what happened since the last time, and what is under way.

    Attributes:
        by_mode: Route → counts; without routes that have none.
        in_flight: Route → questions taken that have no reply yet.
    """

    by_mode: Mapping[Mode, ModeCounts] = field(default_factory=dict)
    in_flight: Mapping[Mode, int] = field(default_factory=dict)

    def __add__(self, other: "PlannerCounts") -> "PlannerCounts":
        return PlannerCounts(
            {
                mode: self.by_mode.get(mode, ModeCounts()) + other.by_mode.get(mode, ModeCounts())
                for mode in {**self.by_mode, **other.by_mode}
            },
            _added(self.in_flight, other.in_flight),
        )


def one_call(outcome: Outcome, seconds: float) -> ModeCounts:
    """Of one question whose own call took so many seconds."""
    bucket = bisect_left(LATENCY_BUCKETS, seconds)
    latency = tuple(int(at == bucket) for at in range(len(_NONE)))
    return ModeCounts(outcomes={outcome: 1}, latency=latency, latency_seconds=seconds)


def _added(one: Mapping[_K, int], other: Mapping[_K, int]) -> dict[_K, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}
