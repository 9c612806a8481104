"""Calls of language models, by the judges and by the planner: routes and latencies.

Judges report every call. The planner reports only the newest questions of each iteration, so its
counts come from the trainer and its latencies from the reported questions.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from statistics import quantiles
from typing import Any

from pydantic import Field

from rlaif.contracts.telemetry.readings import JudgeCall, PlayerCall
from rlaif.hud.read_model import View
from rlaif.hud.read_model.trainer import TrainerReadings
from rlaif.hud.read_model.views import CallView, User

WINDOW = 500
"""Calls of judges in memory: about an hour of three judges with three votes, at one segment per
minute."""

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


def percentile(values: Sequence[float], percent: int) -> float | None:
    """The value below which `percent` of the values lie, interpolated; None without values."""
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]


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
    down: str | None = Field(
        default=None,
        description="Why the planner's route does not answer now; null if it does. Those of judges "
        "are checks of the judge service.",
    )


class LlmView(View):
    """All routes."""

    window: int = Field(description="Maximum number of judge calls that are counted.")
    routes: tuple[RouteView, ...]


class CallsView(View):
    """The newest calls."""

    items: tuple[CallView, ...]
    kept: int = Field(description="Matching calls in memory.")


def llm_view(judges: Collection[JudgeCall], trainer: TrainerReadings) -> LlmView:
    """All routes: the judges', then the planner's."""
    return LlmView(
        window=WINDOW,
        routes=(*_judge_routes(judges), *_planner_routes(trainer)),
    )


def calls_view(
    judges: Collection[JudgeCall],
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


def _all(
    judges: Collection[JudgeCall], trainer: TrainerReadings, episode_of: EpisodeOf
) -> list[CallView]:
    found = [_judged(call, episode_of) for call in judges]
    found += [_played(call) for call in trainer.calls]
    return sorted(found, key=lambda call: call.at, reverse=True)


def _judge_routes(judges: Collection[JudgeCall]) -> Iterator[RouteView]:
    for name in sorted({call.judge for call in judges}):
        own = [call for call in judges if call.judge == name]
        yield _route(
            dict(Counter(call.outcome for call in own).most_common()),
            [call.latency_seconds for call in own if call.outcome == "ok"],
            user="judge",
            name=name,
            route=own[-1].route,
            model=own[-1].model,
            last_at=max(call.at for call in own),
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
