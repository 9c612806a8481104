"""Health of the language-model calls: shares and latencies over the newest calls."""

from collections import Counter, deque
from collections.abc import Sequence
from statistics import quantiles

from rlaif.contracts.telemetry import JudgeCall
from rlaif.hud.views import JudgeFailure, JudgeRow, JudgeView


class JudgeHealth:
    """Keeps the newest calls.

    Args:
        window: Calls kept. 500 calls are about an hour of three judges with three votes at
            one segment a minute.
    """

    def __init__(self, *, window: int = 500) -> None:
        self._window = window
        self._calls: deque[JudgeCall] = deque(maxlen=window)
        self._failure: JudgeCall | None = None

    def called(self, call: JudgeCall) -> None:
        """One call ended."""
        self._calls.append(call)
        if call.outcome != "ok":
            self._failure = call

    def view(self) -> JudgeView:
        """Shares and latencies; latencies are those of calls that ended well."""
        calls = list(self._calls)
        latencies = _latencies(calls)
        failure = self._failure
        return JudgeView(
            window=self._window,
            calls=len(calls),
            ok=len(latencies),
            outcomes=dict(Counter(call.outcome for call in calls).most_common()),
            latency_p50_seconds=percentile(latencies, 50),
            latency_p95_seconds=percentile(latencies, 95),
            last_call_at=max((call.at for call in calls), default=None),
            last_failure=failure
            and JudgeFailure(at=failure.at, judge=failure.judge, outcome=failure.outcome),
            judges=tuple(
                _row(judge, [call for call in calls if call.judge == judge])
                for judge in sorted({call.judge for call in calls})
            ),
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
