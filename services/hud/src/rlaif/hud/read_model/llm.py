"""Calls of language models, by the judges and by the planner: routes, latencies, outages.

Judges report every call. The planner reports only the newest questions of each iteration, so its
counts come from the trainer and its latencies from the reported questions. A share over many calls
hides an outage of a minute, so consecutive calls without an answer are counted as well.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import quantiles
from typing import Any, Literal

from pydantic import Field

from rlaif.contracts.telemetry.readings import JudgeCall, PlayerCall
from rlaif.hud.read_model import View
from rlaif.hud.read_model.trainer import TrainerReadings
from rlaif.hud.read_model.views import CallView, FailingJudge, User

UNANSWERED = frozenset({"throttled", "refused", "error", "timeout"})
"""Outcomes without an answer; `invalid` is an answer."""

OUTAGE_CALLS = 3
"""Consecutive calls without an answer that make an outage."""

WINDOW = 500
"""Calls in memory: about an hour of three judges with three votes, at one segment per minute."""

_JUDGE = {
    "throttled": "{route} exceeds the rate limit of its server and is retried. If that lasts, "
    "lower JUDGE_LLM_CONCURRENCY or set JUDGE_LLM_CALLS_PER_SECOND.",
    "refused": "The server of {route} rejected the call: check LLM_API_KEY, the URL of the route "
    "and the name of the model, {model}.",
    "timeout": "{route} did not answer in time: check whether its server is overloaded or hangs. A "
    "slow one needs a higher JUDGE_CALL_TIMEOUT_SECONDS.",
    "error": "{route} could not be reached or failed: check the log of its server. Segments wait "
    "until it answers again.",
    "invalid": "{model} did not follow the requested format: if that is frequent, check "
    "JUDGE_SCHEMA_MODE and the model's chat template.",
    "length": "The answer of {model} was truncated: raise JUDGE_MAX_TOKENS, or "
    "JUDGE_THINKING_TOKENS for a reasoning model.",
}
_PLANNER = {
    "throttled": "The route {route} exceeds the rate limit of its server: use a larger server, or "
    "fewer runners (RAY_WORKERS).",
    "refused": "The server of the route {route} rejected the call: check TRAINER_PLANNER_API_KEY, "
    "the route's URL and the name of its model.",
    "timeout": "The route {route} did not answer in time; the policy continued. Check whether its "
    "server is overloaded, or raise TRAINER_PLANNER_PLAN_SECONDS.",
    "error": "The route {route} could not be reached or failed; the policy continued. Check the "
    "log of its server.",
    "invalid": "The answer of the route {route} could not be parsed or executed: if that is "
    "frequent, check TRAINER_PLANNER_SCHEMA_MODE.",
    "dropped": "The question on {route} was dropped because its episode ended first; no action "
    "needed.",
}
_OTHER = "No remedy is known for `{outcome}` of {route}; check the log of the {service}."


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


EpisodeOf = Callable[[str], str | None]
"""Segment → its episode, or None."""


class RouteView(View):
    """One model behind one route."""

    user: User = Field(description="A judge of segments, or the planner.")
    name: str = Field(description="The judge, or the planner's route.")
    route: str
    model: str | None = Field(default=None, description="Null if it was not reported.")
    calls: int = Field(description="Of a judge: in the window; of the planner: over the run.")
    ok: int
    outcomes: dict[str, int]
    latency_p50_seconds: float | None = Field(description="Of successful calls.")
    latency_p95_seconds: float | None
    timed: int = Field(description="Calls with a latency.")
    tokens_read: int | None = Field(default=None, description="Null if they are not reported.")
    tokens_written: int | None = None
    last_at: datetime | None = Field(description="End of the newest reported call.")
    down: str | None = Field(description="Why it does not answer now; null if it does.")


class LlmView(View):
    """All routes."""

    window: int = Field(description="Maximum number of judge calls that are counted.")
    routes: tuple[RouteView, ...]


class CallsView(View):
    """The newest calls."""

    items: tuple[CallView, ...]
    kept: int = Field(description="Matching calls in memory.")


def llm_view(judges: JudgeHealth, trainer: TrainerReadings) -> LlmView:
    """All routes: the judges', then the planner's."""
    return LlmView(
        window=judges.window,
        routes=(*_judge_routes(judges), *_planner_routes(trainer)),
    )


def calls_view(
    judges: JudgeHealth,
    trainer: TrainerReadings,
    episode_of: EpisodeOf,
    *,
    user: User | None,
    failed: bool | None,
    limit: int,
) -> CallsView:
    """The newest calls, of one user and outcome if these are given."""
    found = [
        call
        for call in _all(judges, trainer, episode_of)
        if (user is None or call.user == user) and (failed is None or call.ok != failed)
    ]
    return CallsView(items=tuple(found[:limit]), kept=len(found))


def plans_view(trainer: TrainerReadings, limit: int) -> tuple[CallView, ...]:
    """The newest questions of the planner in the current run, newest first."""
    run_id = trainer.assistance.run_id if trainer.assistance else None
    own = [call for call in reversed(trainer.calls) if call.run_id == run_id]
    return tuple(_played(call) for call in own[:limit])


def _all(judges: JudgeHealth, trainer: TrainerReadings, episode_of: EpisodeOf) -> list[CallView]:
    found = [_judged(call, episode_of) for call in judges.calls]
    found += [_played(call) for call in trainer.calls]
    return sorted(found, key=lambda call: call.at, reverse=True)


def _judge_routes(judges: JudgeHealth) -> Iterator[RouteView]:
    calls = judges.calls
    down = {each.judge: each for each in judges.failing}
    for name in sorted({call.judge for call in calls}):
        own = [call for call in calls if call.judge == name]
        failing = down.get(name)
        yield _route(
            dict(Counter(call.outcome for call in own).most_common()),
            latencies_of(own),
            user="judge",
            name=name,
            route=own[-1].route,
            model=own[-1].model,
            last_at=max(call.at for call in own),
            down=failing
            and f"{failing.calls} consecutive calls ended with {failing.outcome}, since "
            f"{failing.since:%H:%M:%S} UTC",
        )


def _planner_routes(trainer: TrainerReadings) -> Iterator[RouteView]:
    status = trainer.assistance
    for name, figures in sorted(status.by_mode.items()) if status else ():
        own = [c for c in trainer.calls if status and (c.mode, c.run_id) == (name, status.run_id)]
        times = [
            call.latency_seconds
            for call in own
            if call.call == "ok" and not call.cached and call.latency_seconds is not None
        ]
        asked = {how: count for how, count in figures.calls.items() if how != "dropped" and count}
        yield _route(
            {how: n - (figures.cached if how == "ok" else 0) for how, n in asked.items()},
            times,
            user="planner",
            name=name,
            route=f"/{name}",
            # 0 means that the server does not report them.
            tokens_read=figures.tokens_read or None,
            tokens_written=figures.tokens_written or None,
            last_at=max((call.at for call in own), default=None),
            down=status.down.get(name) if status else None,
        )


def _route(outcomes: Mapping[str, int], times: Sequence[float], **fields: Any) -> RouteView:
    return RouteView(
        calls=sum(outcomes.values()),
        ok=outcomes.get("ok", 0),
        outcomes=dict(outcomes),
        latency_p50_seconds=percentile(times, 50),
        latency_p95_seconds=percentile(times, 95),
        timed=len(times),
        **fields,
    )


def _judged(call: JudgeCall, episode_of: EpisodeOf) -> CallView:
    ok = call.outcome == "ok"
    remedy = _JUDGE.get(call.outcome, _OTHER).format(
        route=call.route, model=call.model, outcome=call.outcome, service="judge"
    )
    return CallView(
        at=call.at,
        user="judge",
        name=call.judge,
        route=call.route,
        model=call.model,
        outcome=call.outcome,
        ok=ok,
        latency_seconds=call.latency_seconds,
        segment_id=call.segment_id,
        episode_id=episode_of(call.segment_id),
        request="levels of a segment",
        answer=call.rationale,
        remedy=None if ok else remedy,
    )


def _played(call: PlayerCall) -> CallView:
    ok, route = call.call == "ok", f"/{call.mode}"
    wanted = " → ".join(call.wanted)
    remedy = _PLANNER.get(call.call, _OTHER).format(
        route=route, outcome=call.call, service="trainer"
    )
    return CallView(
        at=call.at,
        user="planner",
        name=call.mode,
        route=route,
        outcome=call.call,
        ok=ok,
        latency_seconds=call.latency_seconds,
        request="a plan" if call.kind == "plan" else "a button",
        answer=" — ".join(filter(None, (wanted, call.reason))) or call.ending_reason or None,
        followed=call.followed,
        ending=call.ending or None,
        detail=", ".join(_details(call)),
        remedy=None if ok else remedy,
    )


def _details(call: PlayerCall) -> Iterator[str]:
    yield f"environment {call.env}, step {call.step}"
    if call.cached:
        yield "cached answer"
    if call.steps:
        yield f"played for {call.steps} steps"
    if call.ending_reason:
        yield call.ending_reason
