"""The newest reading of the trainer of each kind."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    CurriculumProgress,
    MapPosition,
    PaidStep,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    SearchProgress,
    Telemetry,
    TrainingProgress,
    WatchedPay,
)
from rlaif.hud.read_model.views import (
    AssistanceMode,
    AssistanceView,
    CallView,
    MapView,
    PaidStepsView,
    PayView,
    RunView,
    Section,
)

S = TypeVar("S")

MAX_CALLS = 300
"""Maximum number of planner questions in memory."""

MAX_STEPS = 300
"""Maximum number of decisions in memory: those of a segment."""


class TrainerReadings:
    """Readings of the current run; those of another run are not shown."""

    def __init__(self) -> None:
        self.run: RunView | None = None
        self._assistance: AssistanceStatus | None = None
        self.calls: deque[PlayerCall] = deque(maxlen=MAX_CALLS)
        self.steps = StepWindow()
        self._sections: dict[str, Section] = {}

    def apply(self, reading: Telemetry, now: datetime) -> RunView | None:
        """Store a reading; returns the run if it is a new one or its status changed."""
        match reading:
            case TrainingProgress():
                return self._progress(reading, now)
            case AssistanceStatus():
                self._assistance = reading
            case PlayerCall():
                self.calls.append(reading)
            case PaidSteps():
                self.steps.add(reading, now)
            case RewardBreakdown():
                self._sections["reward"] = reading
            case WatchedPay():
                self._sections["pay"] = _pay_view(reading)
            case SearchProgress():
                self._sections["search"] = reading
            case CurriculumProgress():
                self._sections["curriculum"] = reading
        return None

    def moved(self, reading: MapPosition, name: str | None) -> None:
        self._sections["map"] = MapView(**dict(reading), name=name)

    def section(self, name: str) -> Section:
        """The section `run`, `reward`, `map`, `pay`, `search` or `curriculum`."""
        if name == "run":
            return self.run
        return self._of_run(self._sections.get(name))

    @property
    def assistance(self) -> AssistanceStatus | None:
        return self._of_run(self._assistance)

    def _of_run(self, found: S) -> S | None:
        run = self.run
        return None if run and getattr(found, "run_id", run.run_id) != run.run_id else found

    def _progress(self, reading: TrainingProgress, now: datetime) -> RunView | None:
        last = self.run
        same = last and (last.run_id, last.status) == (reading.run_id, reading.status)
        shown = dict(reading)
        if reading.steps_per_second is None:  # before the first iteration they are unknown, not 0
            shown |= {"episodes": None, "segments_skipped": None}
        if last and last.run_id != reading.run_id:  # these do not name their run
            self.steps = StepWindow()
            self._sections = {k: v for k, v in self._sections.items() if hasattr(v, "run_id")}
        since = last.status_since if last and same else now
        self.run = RunView(**shown, received_at=now, status_since=since)
        return None if same else self.run

    def assistance_view(self, newest: tuple[CallView, ...]) -> AssistanceView | None:
        status = self.assistance
        if status is None:
            return None
        modes = {name: _mode(figures) for name, figures in sorted(status.by_mode.items())}
        sums = ("planner_steps", "calls", "ok", "takeovers", "done", "suggestions", "followed")
        return AssistanceView(
            run_id=status.run_id,
            has_planner=status.has_planner,
            env_steps=status.env_steps,
            modes=modes,
            down=status.down,
            newest=newest,
            **{name: sum(getattr(mode, name) for mode in modes.values()) for name in sums},
        )


class StepWindow:
    """The newest consecutive decisions of the watched game.

    Readings may be lost; decisions before a gap are dropped.
    """

    def __init__(self, *, keep: int = MAX_STEPS) -> None:
        self._env: str | None = None
        self._steps: deque[PaidStep] = deque(maxlen=keep)
        self._received_at: datetime | None = None

    def add(self, reading: PaidSteps, now: datetime) -> None:
        if reading.env != self._env:
            self._env = reading.env
            self._steps.clear()
        for step in reading.steps:
            newest = self._steps[-1] if self._steps else None
            if newest is not None and step == newest:
                continue
            if newest is not None and step.number != newest.number + 1:
                self._steps.clear()
            self._steps.append(step)
            self._received_at = now

    def view(self, after: int | None) -> PaidStepsView:
        steps: Sequence[PaidStep] = tuple(self._steps)
        paid = [step.paid for step in steps if step.paid is not None]
        follow = after is not None and bool(steps) and steps[0].number <= after <= steps[-1].number
        return PaidStepsView(
            env=self._env,
            received_at=self._received_at,
            kept=len(steps),
            reward_sum=sum(step.reward for step in steps) if steps else None,
            paid_sum=sum(paid) if steps and len(paid) == len(steps) else None,
            steps=tuple(
                step for step in steps if not follow or after is None or step.number > after
            ),
        )


def _pay_view(reading: WatchedPay) -> PayView:
    rises = reading.rises
    return PayView(
        **dict(reading),
        rise=None if rises is None else sum(rises),
        rise_seconds=None if rises is None else len(rises) * reading.bin_seconds,
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
