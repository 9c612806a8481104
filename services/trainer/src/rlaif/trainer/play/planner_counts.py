"""Counts of a planner's calls: plain values in a fragment, which are summed over runners."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import LATENCY_BUCKETS

Outcome = Literal["ok", "invalid", "timeout", "throttled", "refused", "error", "dropped"]
"""Outcome of an accepted question.

`invalid`: the answer does not match the schema. `throttled`: the server asks for fewer calls.
`refused`: the server rejects the request. `error`: no connection, or a server error. `dropped`: the
planner was closed before.
"""

NotAsked = Literal["busy", "resting", "paced", "closed"]
"""Why a question was not accepted: too many in flight; the route is considered broken; the limit of
calls per second is reached; the planner is closed."""

_NONE = (0,) * (len(LATENCY_BUCKETS) + 1)


def added(one: Any, other: Any) -> Any:
    """The sum of two records of one type: mappings are added by key, all others by position."""
    if isinstance(one, Mapping):
        both = {key: added(one[key], other[key]) for key in one.keys() & other.keys()}
        return {**one, **other, **both}
    if isinstance(one, tuple):
        return tuple(map(added, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        names = [each.name for each in fields(one)]
        return replace(
            one, **{name: added(getattr(one, name), getattr(other, name)) for name in names}
        )
    return one + other


@dataclass(frozen=True)
class ModeCounts:
    """Counts of one route.

    Attributes:
        asked: Accepted questions.
        not_asked: Reason → rejected questions.
        outcomes: Outcome → questions; those in flight are not included.
        cached: Questions without a call of their own: the answer was known, or a call was shared.
            They are included in `outcomes`.
        latency: `[11]`, calls by duration (`LATENCY_BUCKETS`).
        latency_seconds: Sum of the durations.
        tokens_read: Prompt tokens, if the server reports them.
        tokens_written: Completion tokens.
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
        total: ModeCounts = added(self, other)
        return total


@dataclass(frozen=True)
class PlannerCounts:
    """Counts of all routes of a planner since they were last read.

    Attributes:
        by_mode: Route → counts; without routes that have none.
        in_flight: Route → accepted questions without a reply.
    """

    by_mode: Mapping[Mode, ModeCounts] = field(default_factory=dict)
    in_flight: Mapping[Mode, int] = field(default_factory=dict)

    def __add__(self, other: "PlannerCounts") -> "PlannerCounts":
        total: PlannerCounts = added(self, other)
        return total


def one_call(outcome: Outcome, seconds: float) -> ModeCounts:
    """Counts of one question with its own call of this duration."""
    bucket = bisect_left(LATENCY_BUCKETS, seconds)
    latency = tuple(int(at == bucket) for at in range(len(_NONE)))
    return ModeCounts(outcomes={outcome: 1}, latency=latency, latency_seconds=seconds)
