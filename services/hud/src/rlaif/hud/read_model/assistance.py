"""What the language model that plays along did: counts of the run, and the newest it wanted.

The counts are the trainer's own and cover the run. Of the questions themselves only the newest of
each iteration are told, so nothing is counted here.
"""

from collections import deque
from datetime import datetime

from rlaif.contracts.assistance import ModeFigures
from rlaif.contracts.telemetry import AssistanceStatus, PlayerCall
from rlaif.hud.read_model.views import AssistanceMode, AssistanceView, PlayerCallView

NEWEST = 20
"""Questions that are kept."""


class Assistance:
    """Folds both kinds of readings."""

    def __init__(self) -> None:
        self._status: AssistanceStatus | None = None
        self._received_at: datetime | None = None
        self._newest: deque[PlayerCall] = deque(maxlen=NEWEST)

    def told(self, status: AssistanceStatus, now: datetime) -> None:
        """The trainer told the counts of its run."""
        self._status, self._received_at = status, now

    def called(self, call: PlayerCall) -> None:
        """The trainer told what came of one question."""
        self._newest.appendleft(call)

    def view(self) -> AssistanceView | None:
        """What is known; None until the trainer has told. Only the current run is shown."""
        status = self._status
        if status is None or self._received_at is None:
            return None
        modes = {name: _mode(figures) for name, figures in sorted(status.by_mode.items())}
        return AssistanceView(
            run_id=status.run_id,
            received_at=self._received_at,
            has_planner=status.has_planner,
            env_steps=status.env_steps,
            planner_steps=sum(each.planner_steps for each in modes.values()),
            calls=sum(each.calls for each in modes.values()),
            ok=sum(each.ok for each in modes.values()),
            takeovers=sum(each.takeovers for each in modes.values()),
            done=sum(each.done for each in modes.values()),
            suggestions=sum(each.suggestions for each in modes.values()),
            followed=sum(each.followed for each in modes.values()),
            modes=modes,
            down=status.down,
            newest=tuple(
                PlayerCallView.model_validate(call.model_dump(exclude={"run_id"}))
                for call in self._newest
                if call.run_id == status.run_id
            ),
        )


def _mode(figures: ModeFigures) -> AssistanceMode:
    calls, plans, ended = figures.calls, figures.plans, figures.suggestions
    return AssistanceMode(
        calls=sum(calls.values()) - calls.get("dropped", 0) - figures.cached,
        ok=calls.get("ok", 0) - figures.cached,
        cached=figures.cached,
        in_flight=figures.in_flight,
        latency_mean_seconds=figures.seconds / figures.timed if figures.timed else None,
        plans=sum(plans.values()),
        stale=plans.get("stale", 0),
        takeovers=sum(figures.takeovers.values()),
        done=figures.takeovers.get("done", 0),
        planner_steps=figures.planner_steps,
        suggestions=sum(ended.values()) - ended.get("given", 0),
        followed=ended.get("followed", 0),
        bonus=figures.bonus,
    )
