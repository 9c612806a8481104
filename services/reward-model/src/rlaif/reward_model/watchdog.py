"""Is the reward model being gamed? Its own return rises while the game's story stands still.

What the trainer tells about once a second (`telemetry.progress`) is enough: the mean potential of
the champion over an iteration, and the story steps an episode reaches, counted in RAM, which the
judges never see. Both are compared between the older and the newer half of a window of iterations
under one version. Then the reward went up and the game did not: alarm.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.telemetry import TrainingProgress


@dataclass(frozen=True)
class WatchdogSettings:
    """When it barks.

    Attributes:
        iterations: Iterations of one version that are looked at; the halves are compared.
        least_rise: Rise of the model's return between the halves, in its own units, that counts.
        flat_share: Rise of the milestones, relative to the older half, up to which they count as
            flat.
        sigmas: Standard errors by which the rise of the return must stand out from its noise.
    """

    iterations: int = 40
    least_rise: float = 0.05
    flat_share: float = 0.02
    sigmas: float = 4.0


@dataclass(frozen=True)
class Alarm:
    """The model's return rose and the milestones did not.

    Attributes:
        version: Under which this happened.
        run_id: Of the run.
        iteration: At which it was noticed.
        model_return: (older, newer) mean of the model's return.
        milestones: (older, newer) mean of what the game shows.
    """

    version: int
    run_id: str
    iteration: int
    model_return: tuple[float, float]
    milestones: tuple[float, float]

    @property
    def reason(self) -> str:
        """One sentence for people."""
        return (
            f"under reward model {self.version} its return rose from {self.model_return[0]:.3f} to "
            f"{self.model_return[1]:.3f} while milestones an episode went from "
            f"{self.milestones[0]:.2f} to {self.milestones[1]:.2f}: it is being gamed"
        )


@dataclass
class Watchdog:
    """Folds readings; no clock and no bus in it.

    Attributes:
        settings: When it barks.
        alarm: The last alarm; None before the first.
        alarms: How many there were.
    """

    settings: WatchdogSettings = field(default_factory=WatchdogSettings)
    alarm: Alarm | None = None
    alarms: int = 0
    _watched: tuple[str, int] | None = None
    _iteration: int = -1
    _readings: deque[tuple[float, float]] = field(default_factory=deque)

    @property
    def iterations(self) -> int:
        """Iterations of the version that is watched now, up to the window."""
        return len(self._readings)

    def take(self, progress: TrainingProgress) -> Alarm | None:
        """Fold one reading in; gives the alarm when this one raises it.

        Each version starts anew: returns of two versions cannot be compared. A repeated iteration
        counts once. Readings without a version, return or milestones say nothing.
        """
        version = progress.reward_model_version
        model_return = _first(progress.potential_mean, progress.shaped_return_mean)
        milestones = _first(progress.milestones_mean, progress.rooms_mean)
        if version is None or model_return is None or milestones is None:
            return None
        if self._watched != (progress.run_id, version):
            self._watched = (progress.run_id, version)
            self._forget()
        if progress.iteration <= self._iteration:
            return None
        self._iteration = progress.iteration
        self._readings.append((model_return, milestones))
        while len(self._readings) > self.settings.iterations:
            self._readings.popleft()
        if len(self._readings) < self.settings.iterations:
            return None
        return self._look(progress.run_id, version)

    def _look(self, run_id: str, version: int) -> Alarm | None:
        table = np.array(self._readings, np.float64)
        half = len(table) // 2
        older, newer = table[:half], table[half:]
        rise, noise = newer[:, 0].mean() - older[:, 0].mean(), _error(older, newer)
        before, after = float(older[:, 1].mean()), float(newer[:, 1].mean())
        rose = rise >= self.settings.least_rise and rise > self.settings.sigmas * noise
        flat = after - before <= self.settings.flat_share * abs(before)
        if not (rose and flat):
            return None
        self.alarm = Alarm(
            version,
            run_id,
            self._iteration,
            (float(older[:, 0].mean()), float(newer[:, 0].mean())),
            (before, after),
        )
        self.alarms += 1
        # The next alarm needs a whole window again.
        self._readings.clear()
        return self.alarm

    def _forget(self) -> None:
        self._readings.clear()
        self._iteration = -1


def _error(older: NDArray[np.float64], newer: NDArray[np.float64]) -> float:
    """Standard error of the difference of both means of the return."""
    variances = older[:, 0].var() / len(older) + newer[:, 0].var() / len(newer)
    return float(np.sqrt(variances))


def _first(value: float | None, other: float | None) -> float | None:
    return other if value is None else value
