"""Calls of language models, by the judges and by the planner."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

from pydantic import Field

from rlaif.contracts.assistance import ModeFigures
from rlaif.contracts.telemetry import AssistanceStatus, JudgeCall, PlayerCall
from rlaif.hud.read_model.judge_health import JudgeHealth, percentile
from rlaif.hud.read_model.view import View

User = Literal["judge", "planner"]


class LatencyBucket(View):
    """Calls that took longer than one edge, and not longer than the other."""

    from_seconds: float
    to_seconds: float | None = Field(description="Null: no upper edge.")
    calls: int


class RouteView(View):
    """One model behind one route, and how it answers."""

    user: User = Field(description="A judge of segments, or the planner that plays along.")
    name: str = Field(description="The judge, or the planner's route.")
    route: str
    model: str | None = Field(description="Null when nobody told.")
    calls: int = Field(
        description="Of a judge among the newest of all judges; of the planner over the run."
    )
    ok: int
    outcomes: dict[str, int]
    latency_p50_seconds: float | None = Field(description="Of calls that ended well.")
    latency_p95_seconds: float | None
    timed: int = Field(description="Calls that the latencies are of.")
    latencies: tuple[LatencyBucket, ...] | None = Field(
        description="Histogram of these calls, without a gap from the quickest to the slowest; the "
        "edges are the same for all routes. Null of no call."
    )
    tokens_read: int | None = Field(description="Null where the HUD is not told.")
    tokens_written: int | None
    last_at: datetime | None = Field(description="When the newest call ended that was told.")
    down: str | None = Field(description="Why it gives no answer now; null when it does.")


class CallView(View):
    """One call. What was said is a model's own words: show it as text only."""

    at: datetime
    user: User
    name: str
    route: str
    model: str | None
    outcome: str
    ok: bool
    latency_seconds: float | None
    segment_id: str | None = Field(description="What a judge was asked about.")
    episode_id: str | None = Field(description="Null when the HUD does not know the segment.")
    asked: str = Field(description="What for, in words.")
    said: str | None
    followed: bool | None = Field(description="Null for judges, and without a usable answer.")
    ending: str | None
    remedy: str | None = Field(description="What to do about it; null for a good call.")


class LlmView(View):
    """Routes, and the newest calls that went wrong."""

    window: int = Field(description="Newest calls of judges that are counted, at most.")
    latency_edges_seconds: tuple[float, ...] = Field(
        description="Of all histograms; before the first edge and after the last one is a bucket."
    )
    routes: tuple[RouteView, ...]
    errors: tuple[CallView, ...] = Field(description="Newest first.")


class CallsView(View):
    """The newest calls."""

    items: tuple[CallView, ...]
    kept: int = Field(description="Calls that the HUD remembers of those asked for.")


EDGES = tuple(
    round(step * 10.0**decade, 3) for decade in range(-2, 3) for step in (1, 1.5, 2, 3, 5, 7)
)
"""Seconds, 10 ms to 700 s, about equally far apart by ratio: a small model answers in 0.1 s, one
that thinks first in minutes."""


def histogram(seconds: Sequence[float]) -> tuple[LatencyBucket, ...] | None:
    """Calls by how long they took, from the quickest to the slowest; None of no call.

    A call is in the bucket whose upper edge is the first that it does not exceed. Buckets follow
    each other without a gap; those before the quickest call and after the slowest are left out.
    """
    if not seconds:
        return None
    places = [bisect_left(EDGES, each) for each in seconds]
    return tuple(
        LatencyBucket(
            from_seconds=EDGES[place - 1] if place else 0.0,
            to_seconds=EDGES[place] if place < len(EDGES) else None,
            calls=places.count(place),
        )
        for place in range(min(places), max(places) + 1)
    )


_JUDGE = {
    "throttled": "{route} is asked too often for its server: it is tried again by itself. If that "
    "lasts, lower JUDGE_LLM_CONCURRENCY or set JUDGE_LLM_CALLS_PER_SECOND.",
    "refused": "The server of {route} refused: check LLM_API_KEY, the URL of the route and the "
    "model's name {model}.",
    "timeout": "{route} gave no answer in time: see whether its server is overloaded or hangs. A "
    "slow one needs a higher JUDGE_CALL_TIMEOUT_SECONDS.",
    "error": "{route} could not be reached or failed: see its server's log. Segments wait, and are "
    "judged when it answers again.",
    "invalid": "{model} answered in another shape than asked for: if that is often, check "
    "JUDGE_SCHEMA_MODE and the model's chat template.",
    "length": "{model} was cut off: raise JUDGE_MAX_TOKENS, or JUDGE_THINKING_TOKENS for a model "
    "that thinks first.",
}

_PLANNER = {
    "throttled": "The server of the route {route} rejects calls because there are too many: use a "
    "larger server, or fewer runners (RAY_WORKERS).",
    "refused": "The server of the route {route} rejects calls: check TRAINER_PLANNER_API_KEY, and "
    "the URL and model name of the route.",
    "timeout": "The route {route} gave no answer in time; the policy played on. See whether its "
    "server is overloaded, or raise TRAINER_PLANNER_PLAN_SECONDS.",
    "error": "The route {route} could not be reached or failed; the policy played on. See its "
    "server's log.",
    "invalid": "The answer of the route {route} could not be read or played: if that is often, "
    "check TRAINER_PLANNER_SCHEMA_MODE.",
    "dropped": "The question on {route} was given up because its episode ended first: nothing to "
    "do.",
}

_OTHER = "This version knows no remedy for `{outcome}` of {route}; see the log of the {service}."


def of_judge(outcome: str, *, route: str, model: str) -> str:
    """For a call of a judge."""
    text = _JUDGE.get(outcome, _OTHER)
    return text.format(route=route, model=model, outcome=outcome, service="judge")


def of_planner(outcome: str, *, route: str) -> str:
    """For a question of the planner."""
    return _PLANNER.get(outcome, _OTHER).format(route=route, outcome=outcome, service="trainer")


KEPT_PLAYED = 300
ERRORS_SHOWN = 12

EpisodeOf = Callable[[str], str | None]
"""Segment → its episode, or None."""


class LlmCalls:
    """Reads the judges' calls where they are kept already, and keeps the planner's."""

    def __init__(self, judges: JudgeHealth) -> None:
        self._judges = judges
        self._played: deque[PlayerCall] = deque(maxlen=KEPT_PLAYED)
        self._status: AssistanceStatus | None = None

    def played(self, call: PlayerCall) -> None:
        """The trainer told what came of one question."""
        self._played.append(call)

    def told(self, status: AssistanceStatus) -> None:
        """The trainer told the counts of its run."""
        self._status = status

    def view(self, episode_of: EpisodeOf) -> LlmView:
        """Routes and errors."""
        return LlmView(
            window=self._judges.window,
            latency_edges_seconds=EDGES,
            routes=(*self._judge_routes(), *self._planner_routes()),
            errors=tuple(islice((c for c in self._all(episode_of) if not c.ok), ERRORS_SHOWN)),
        )

    def calls(
        self, episode_of: EpisodeOf, *, user: User | None, failed: bool | None, limit: int
    ) -> CallsView:
        """The newest calls; `failed` True or False picks one kind."""
        found = [
            call
            for call in self._all(episode_of)
            if (user is None or call.user == user) and (failed is None or call.ok != failed)
        ]
        return CallsView(items=tuple(found[:limit]), kept=len(found))

    def _all(self, episode_of: EpisodeOf) -> Iterable[CallView]:
        """Newest first, by the clocks of those who told."""
        calls = [_judged(call, episode_of) for call in self._judges.calls]
        calls += [_played(call) for call in self._played]
        return sorted(calls, key=lambda call: call.at, reverse=True)

    def _judge_routes(self) -> Iterable[RouteView]:
        calls = self._judges.calls
        down = {each.judge: each for each in self._judges.failing}
        for name in sorted({call.judge for call in calls}):
            own = [call for call in calls if call.judge == name]
            times = [call.latency_seconds for call in own if call.outcome == "ok"]
            failing = down.get(name)
            yield RouteView(
                user="judge",
                name=name,
                route=own[-1].route,
                model=own[-1].model,
                calls=len(own),
                ok=len(times),
                outcomes=dict(Counter(call.outcome for call in own).most_common()),
                latency_p50_seconds=percentile(times, 50),
                latency_p95_seconds=percentile(times, 95),
                timed=len(times),
                latencies=histogram(times),
                tokens_read=None,
                tokens_written=None,
                last_at=max(call.at for call in own),
                down=failing
                and f"{failing.calls} calls in a row ended with {failing.outcome}, since "
                f"{failing.since:%H:%M:%S} UTC",
            )

    def _planner_routes(self) -> Iterable[RouteView]:
        status = self._status
        if status is None:
            return
        for name, figures in sorted(status.by_mode.items()):
            own = [c for c in self._played if c.mode == name and c.run_id == status.run_id]
            yield _planner_route(name, figures, own, status.down.get(name))


def _planner_route(
    name: str, figures: ModeFigures, told: list[PlayerCall], down: str | None
) -> RouteView:
    times = [
        call.latency_seconds
        for call in told
        if call.call == "ok" and not call.cached and call.latency_seconds is not None
    ]
    asked = {how: count for how, count in figures.calls.items() if how != "dropped" and count}
    outcomes = {how: n - (figures.cached if how == "ok" else 0) for how, n in asked.items()}
    return RouteView(
        user="planner",
        name=name,
        route=f"/{name}",
        model=None,
        calls=sum(outcomes.values()),
        ok=outcomes.get("ok", 0),
        outcomes=outcomes,
        latency_p50_seconds=percentile(times, 50),
        latency_p95_seconds=percentile(times, 95),
        timed=len(times),
        latencies=histogram(times),
        # A server that does not tell them leaves 0, which no answer ever took.
        tokens_read=figures.tokens_read or None,
        tokens_written=figures.tokens_written or None,
        last_at=max((call.at for call in told), default=None),
        down=down,
    )


def _judged(call: JudgeCall, episode_of: EpisodeOf) -> CallView:
    ok = call.outcome == "ok"
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
        asked="levels of a segment",
        said=call.rationale,
        followed=None,
        ending=None,
        remedy=None if ok else of_judge(call.outcome, route=call.route, model=call.model),
    )


def _played(call: PlayerCall) -> CallView:
    ok, route = call.call == "ok", f"/{call.mode}"
    wanted = " → ".join(call.wanted)
    return CallView(
        at=call.at,
        user="planner",
        name=call.mode,
        route=route,
        model=None,
        outcome=call.call,
        ok=ok,
        latency_seconds=call.latency_seconds,
        segment_id=None,
        episode_id=None,
        asked="a plan" if call.kind == "plan" else "a button",
        said=" — ".join(filter(None, (wanted, call.reason))) or call.ending_reason or None,
        followed=call.followed,
        ending=call.ending or None,
        remedy=None if ok else of_planner(call.call, route=route),
    )
