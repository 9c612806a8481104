"""Reads what the newest steps of the watched game were paid, process after process."""

from collections.abc import Sequence
from pathlib import Path

from rlaif.contracts.telemetry import PaidStep
from rlaif.trainer.run_folder.step_ring import StepPay, StepRing

MOST_STEPS = 300
"""In one reading; who watches keeps no more."""


class WatchedSteps:
    """Follows the file; each process of the run makes it anew."""

    def __init__(self) -> None:
        self._ring: StepRing | None = None
        self._identity: tuple[int, int] | None = None
        self._last = 0

    def newer(self, path: Path | None) -> tuple[PaidStep, ...]:
        """Steps that were not given before, oldest first; none while there is no file."""
        current = _identity(path)
        if current != self._identity:
            self._open(path if current is not None else None)
            self._identity = current if self._ring is not None else None
        if self._ring is None:
            return ()
        steps = self._ring.read(after=self._last, most=MOST_STEPS)
        if not steps:
            return ()
        self._last = steps[-1].number
        return tuple(_told(step, self._ring.parts) for step in steps)

    def _open(self, path: Path | None) -> None:
        if self._ring is not None:
            self._ring.close()
        self._ring, self._last = None, 0
        if path is None:
            return
        try:
            self._ring = StepRing(path)
        except (OSError, ValueError):
            return  # it is being made, or cut off by a full disk; tried again


def _told(step: StepPay, names: Sequence[str]) -> PaidStep:
    return PaidStep(
        number=step.number,
        env_step=step.env_step,
        reward=step.reward,
        parts={name: amount for name, amount in zip(names, step.parts, strict=True) if amount},
        paid=step.paid,
        reward_model_version=step.version,
        ended=step.ended,
    )


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Device and inode of the file; None while there is none."""
    try:
        info = path.stat() if path is not None else None
    except OSError:
        return None
    return (info.st_dev, info.st_ino) if info else None
