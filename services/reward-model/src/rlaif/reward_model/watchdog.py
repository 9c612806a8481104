"""Is the reward model being gamed? Its own return rises while the game stands still.

What the trainer tells about once a second (`telemetry.progress`) is enough: the mean potential of
the champion over an iteration, and what RAM says of the episodes, which the judges never see: story
steps, rooms and the game's own return. Under one version, the return of the newer half of a window
of iterations is compared with that of the older half; then the reward went up, and if nothing of
the game did: alarm.

What RAM says is the mean of the last 100 episodes, so a window holds as many iterations as it takes
for two such means of different episodes. Over fewer the game would always seem to stand still.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.telemetry import TrainingProgress

_MOST_READINGS = 20_000
"""A bound for a run whose episodes never end."""


@dataclass(frozen=True)
class WatchdogSettings:
    """When it barks.

    Attributes:
        iterations: Iterations of one version that are looked at, at least; the halves are compared.
        episodes: Episodes that end in each half, at least.
        least_rise: Rise of the model's return between the halves, in its own units, that counts.
        flat_share: Rise of what the game shows, relative to before, up to which it counts as flat.
        sigmas: Standard errors by which the rise of the return must stand out from its noise.
    """

    iterations: int = 40
    episodes: int = 100
    least_rise: float = 0.05
    flat_share: float = 0.02
    sigmas: float = 4.0


@dataclass(frozen=True)
class Alarm:
    """The model's return rose and the game stood still.

    Attributes:
        version: Under which this happened.
        run_id: Of the run.
        iteration: At which it was noticed.
        model_return: (older, newer) mean of the model's return.
        game: What the game shows → (before, now), means over episodes.
    """

    version: int
    run_id: str
    iteration: int
    model_return: tuple[float, float]
    game: dict[str, tuple[float, float]]

    @property
    def reason(self) -> str:
        """One sentence for people."""
        shown = ", ".join(
            f"{name} from {before:.2f} to {now:.2f}" for name, (before, now) in self.game.items()
        )
        return (
            f"under reward model {self.version} its return rose from {self.model_return[0]:.3f} to "
            f"{self.model_return[1]:.3f} while episodes went on as before ({shown}): it is being "
            "gamed"
        )


@dataclass(frozen=True)
class _Reading:
    """One iteration: the model's return, episodes ended so far, and what the last ones show."""

    model_return: float
    episodes: int
    game: dict[str, float]


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
    _readings: deque[_Reading] = field(default_factory=lambda: deque(maxlen=_MOST_READINGS))

    @property
    def iterations(self) -> int:
        """Iterations of the version that is watched now, up to the window."""
        return len(self._readings)

    def take(self, progress: TrainingProgress) -> Alarm | None:
        """Fold one reading in; gives the alarm when this one raises it.

        Each version starts anew: returns of two versions cannot be compared. A repeated iteration
        counts once. Readings without a version, a return or anything of the game say nothing.
        """
        version = progress.reward_model_version
        model_return = progress.potential_mean
        if model_return is None:
            model_return = progress.shaped_return_mean
        game = _shown(progress)
        if version is None or model_return is None or not game:
            return None
        if self._watched != (progress.run_id, version):
            self._watched = (progress.run_id, version)
            self._readings.clear()
            self._iteration = -1
        if progress.iteration <= self._iteration:
            return None
        self._iteration = progress.iteration
        self._readings.append(_Reading(model_return, progress.episodes, game))
        while len(self._readings) > 1 and self._is_window(1):
            self._readings.popleft()
        return self._look(progress.run_id, version) if self._is_window(0) else None

    def _is_window(self, first: int) -> bool:
        """Whether the readings from the `first` on are a whole window."""
        episodes = self._readings[-1].episodes - self._readings[first].episodes
        enough = len(self._readings) - first >= self.settings.iterations
        return enough and episodes >= 2 * self.settings.episodes

    def _look(self, run_id: str, version: int) -> Alarm | None:
        returns = np.array([item.model_return for item in self._readings], np.float64)
        older, newer = np.array_split(returns, 2)
        rise = float(newer.mean() - older.mean())
        if rise < self.settings.least_rise or rise <= self.settings.sigmas * _error(older, newer):
            return None
        game = self._game()
        if not game or any(self._rose(*both) for both in game.values()):
            return None
        means = float(older.mean()), float(newer.mean())
        self.alarm = Alarm(version, run_id, self._iteration, means, game)
        self.alarms += 1
        # The next alarm needs a whole window again.
        self._readings.clear()
        return self.alarm

    def _game(self) -> dict[str, tuple[float, float]]:
        """What the game showed half a window of episodes ago, and now."""
        now = self._readings[-1]
        before = next(
            item
            for item in reversed(self._readings)
            if now.episodes - item.episodes >= self.settings.episodes
        )
        return {
            name: (before.game[name], value)
            for name, value in now.game.items()
            if name in before.game
        }

    def _rose(self, before: float, now: float) -> bool:
        return now - before > self.settings.flat_share * abs(before)


def _shown(progress: TrainingProgress) -> dict[str, float]:
    """What RAM says of the last episodes, by name; only what is told."""
    told = {
        "milestones": progress.milestones_mean,
        "rooms": progress.rooms_mean,
        "the game's own return": progress.episode_return_mean,
    }
    return {name: value for name, value in told.items() if value is not None}


def _error(older: NDArray[np.float64], newer: NDArray[np.float64]) -> float:
    """Standard error of the difference of both means."""
    return float(np.sqrt(older.var() / len(older) + newer.var() / len(newer)))
