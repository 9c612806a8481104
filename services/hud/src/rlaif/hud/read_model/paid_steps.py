"""The newest decisions of the watched game and what each was paid, without a gap between them."""

from collections import deque
from datetime import datetime

from rlaif.contracts.telemetry import PaidStep, PaidSteps
from rlaif.hud.read_model.views import PaidStepsView

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
