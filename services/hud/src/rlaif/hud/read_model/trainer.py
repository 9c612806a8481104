"""Readings of the trainer: the newest of each kind."""

from collections import deque
from datetime import datetime

from rlaif.contracts.assistance import ModeFigures
from rlaif.contracts.telemetry import (
    AssistanceStatus,
    CurriculumProgress,
    PaidStep,
    PaidSteps,
    PlayerCall,
    SearchProgress,
)
from rlaif.hud.read_model.views import (
    AssistanceMode,
    AssistanceView,
    CurriculumView,
    PaidStepsView,
    PlayerCallView,
    RunView,
    SearchView,
)

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


class Quest:
    """Keeps the newest reading of each kind."""

    def __init__(self) -> None:
        self._search: SearchView | None = None
        self._curriculum: CurriculumView | None = None

    def told(self, reading: SearchProgress | CurriculumProgress, now: datetime) -> bool:
        """The trainer told one of both; gives whether it says anything new.

        A search that is over is told again and again, for who comes late.
        """
        if isinstance(reading, SearchProgress):
            is_new = _differs(reading, self._search)
            self._search = SearchView(**dict(reading), received_at=now)
        else:
            is_new = _differs(reading, self._curriculum)
            self._curriculum = CurriculumView(**dict(reading), received_at=now)
        return is_new

    def search(self, run: RunView | None) -> SearchView | None:
        """Of this run; of whichever was told while no run is known."""
        told = self._search
        return told if told is not None and _is_of(told.run_id, run) else None

    def curriculum(self, run: RunView | None) -> CurriculumView | None:
        """Likewise."""
        told = self._curriculum
        return told if told is not None and _is_of(told.run_id, run) else None


def _differs(
    reading: SearchProgress | CurriculumProgress, known: SearchView | CurriculumView | None
) -> bool:
    times = {"at", "received_at"}
    return known is None or reading.model_dump(exclude=times) != known.model_dump(exclude=times)


def _is_of(run_id: str, run: RunView | None) -> bool:
    return run is None or run.run_id == run_id


KEPT = 300
"""Decisions; as many as a segment has frames at most, and as fit a chart."""


class StepWindow:
    """Keeps the newest decisions that follow each other; some 150 bytes each.

    Readings may be lost. What lay before a gap is dropped, so that nobody draws over it.
    """

    def __init__(self, *, keep: int = KEPT) -> None:
        self._env: str | None = None
        self._steps: deque[PaidStep] = deque(maxlen=keep)
        self._received_at: datetime | None = None

    def told(self, reading: PaidSteps, now: datetime) -> None:
        """Take in what the trainer told; what was told before changes nothing."""
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
        """All, or only those after a number when they follow it."""
        steps = tuple(self._steps)
        paid = [step.paid for step in steps if step.paid is not None]
        follow = after is not None and bool(steps) and steps[0].number <= after <= steps[-1].number
        return PaidStepsView(
            env=self._env,
            received_at=self._received_at,
            kept=len(steps),
            reward_sum=sum(step.reward for step in steps) if steps else None,
            paid_sum=sum(paid) if steps and len(paid) == len(steps) else None,
            steps=tuple(step for step in steps if after is None or step.number > after)
            if follow
            else steps,
        )
