"""Health of the judges' calls: shares and latencies over the newest calls, and current outages.

A share over many calls hides an outage of a minute. Therefore consecutive calls of a judge without
an answer are counted as well, until the first answer.
"""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from statistics import quantiles
from typing import Literal

from rlaif.contracts.telemetry.readings import JudgeCall
from rlaif.hud.read_model.views import FailingJudge

UNANSWERED = frozenset({"throttled", "refused", "error", "timeout"})
"""Outcomes without an answer; `invalid` is an answer."""

OUTAGE_CALLS = 3
"""Consecutive calls without an answer that make an outage."""

WINDOW = 500
"""Calls that are kept: about an hour of three judges with three votes at one segment a minute."""


class JudgeHealth:
    """Keeps the newest calls."""

    def __init__(self, *, window: int = WINDOW) -> None:
        self.window = window
        self._calls: deque[JudgeCall] = deque(maxlen=window)
        self._failing: dict[str, FailingJudge] = {}

    def add(self, call: JudgeCall) -> tuple[str, Literal["info", "warning"]] | None:
        """Add a call; returns the log line of an outage that starts or ends with it."""
        self._calls.append(call)
        before = self._failing.pop(call.judge, None)
        if call.outcome not in UNANSWERED:
            if before is None or before.calls < OUTAGE_CALLS:
                return None
            seconds = (call.at - before.since).total_seconds()
            text = f"The {call.judge} judge receives answers again, after {before.calls} calls"
            return f"{text} without one in {seconds:.0f} s.", "info"
        now = FailingJudge(
            judge=call.judge,
            route=call.route,
            outcome=call.outcome,
            since=before.since if before else call.at,
            calls=before.calls + 1 if before else 1,
        )
        self._failing[call.judge] = now
        if now.calls != OUTAGE_CALLS:
            return None
        text = f"The {now.judge} judge receives no answers from {call.model} ({now.route}): "
        return text + f"{now.calls} consecutive calls ended with {now.outcome}.", "warning"

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        return tuple(self._calls)

    @property
    def last_call_at(self) -> datetime | None:
        return max((call.at for call in self._calls), default=None)

    @property
    def failing(self) -> tuple[FailingJudge, ...]:
        found = (each for each in self._failing.values() if each.calls >= OUTAGE_CALLS)
        return tuple(sorted(found, key=lambda each: each.judge))


def percentile(values: Sequence[float], percent: int) -> float | None:
    """The value below which `percent` of the values lie, interpolated; None without values."""
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def latencies_of(calls: Sequence[JudgeCall]) -> list[float]:
    """Seconds of the successful calls."""
    return [call.latency_seconds for call in calls if call.outcome == "ok"]
