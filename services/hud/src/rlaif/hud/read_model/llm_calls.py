"""Calls of language models, one by one: of judges and of the planner that plays along.

A judge tells every call; of the planner's questions only the newest of each iteration are told, so
its counts are the trainer's own and only its latencies are of what was told.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import islice

from rlaif.contracts.assistance import ModeFigures
from rlaif.contracts.telemetry import AssistanceStatus, JudgeCall, PlayerCall
from rlaif.hud.read_model.judge_health import JudgeHealth, percentile
from rlaif.hud.read_model.latencies import EDGES, histogram
from rlaif.hud.read_model.llm_views import CallsView, CallView, LlmView, RouteView, User
from rlaif.hud.read_model.remedies import of_judge, of_planner

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
