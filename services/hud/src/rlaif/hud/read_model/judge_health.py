"""Health of the language-model calls: shares and latencies over the newest calls, who is silent.

A share over many calls hides an outage of a minute. So the calls of a judge that went without an
answer in a row are counted too, and the first answer ends the count.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import quantiles

from rlaif.contracts.telemetry import JudgeCall
from rlaif.hud.read_model.views import FailingJudge, JudgeFailure, JudgeRow, JudgeView

UNANSWERED = frozenset({"throttled", "refused", "error", "timeout"})
"""Outcomes of calls that brought nothing; an `invalid` answer is an answer."""

OUTAGE_CALLS = 3
"""Calls without an answer in a row that are no accident any more."""


@dataclass(frozen=True)
class Recovery:
    """A judge answered again at `until`, after `calls` without an answer; the first: at `since`."""

    judge: str
    since: datetime
    calls: int
    until: datetime


class JudgeHealth:
    """Keeps the newest `window` calls.

    500 are about an hour of three judges with three votes at one segment a minute.
    """

    def __init__(self, *, window: int = 500) -> None:
        self.window = window
        self._calls: deque[JudgeCall] = deque(maxlen=window)
        self._failure: JudgeCall | None = None
        self._failing: dict[str, FailingJudge] = {}

    def called(self, call: JudgeCall) -> FailingJudge | Recovery | None:
        """One call ended: the outage that it makes known, the recovery that it is, or None."""
        self._calls.append(call)
        if call.outcome != "ok":
            self._failure = call
        before = self._failing.pop(call.judge, None)
        if call.outcome not in UNANSWERED:
            lasted = before is not None and before.calls >= OUTAGE_CALLS
            if before is None or not lasted:
                return None
            return Recovery(call.judge, before.since, before.calls, call.at)
        now = FailingJudge(
            judge=call.judge,
            route=call.route,
            outcome=call.outcome,
            since=before.since if before else call.at,
            calls=before.calls + 1 if before else 1,
        )
        self._failing[call.judge] = now
        return now if now.calls == OUTAGE_CALLS else None

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        """The newest calls, in the order in which they were told."""
        return tuple(self._calls)

    @property
    def last_call_at(self) -> datetime | None:
        """When the newest call ended, by the judge's clock."""
        return max((call.at for call in self._calls), default=None)

    @property
    def failing(self) -> tuple[FailingJudge, ...]:
        """Judges that have not answered for some calls."""
        found = (each for each in self._failing.values() if each.calls >= OUTAGE_CALLS)
        return tuple(sorted(found, key=lambda each: each.judge))

    def view(self) -> JudgeView:
        """Shares and latencies; latencies are those of calls that ended well."""
        calls = list(self._calls)
        latencies = _latencies(calls)
        failure = self._failure
        return JudgeView(
            window=self.window,
            calls=len(calls),
            ok=len(latencies),
            outcomes=dict(Counter(call.outcome for call in calls).most_common()),
            latency_p50_seconds=percentile(latencies, 50),
            latency_p95_seconds=percentile(latencies, 95),
            last_call_at=self.last_call_at,
            last_failure=failure
            and JudgeFailure(at=failure.at, judge=failure.judge, outcome=failure.outcome),
            judges=tuple(
                _row(judge, [call for call in calls if call.judge == judge])
                for judge in sorted({call.judge for call in calls})
            ),
            failing=self.failing,
        )


def percentile(values: Sequence[float], percent: int) -> float | None:
    """The value below which `percent` of the values lie, interpolated; None without values."""
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _latencies(calls: list[JudgeCall]) -> list[float]:
    return [call.latency_seconds for call in calls if call.outcome == "ok"]


def _row(judge: str, calls: list[JudgeCall]) -> JudgeRow:
    latencies = _latencies(calls)
    return JudgeRow(
        judge=judge,
        model=calls[-1].model,
        calls=len(calls),
        ok=len(latencies),
        latency_p50_seconds=percentile(latencies, 50),
    )
