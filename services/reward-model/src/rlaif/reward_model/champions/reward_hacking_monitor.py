"""Is the reward model being gamed? Its own return rises while the game stands still.

What the trainer sends about once a second (`telemetry.progress`) is enough: the mean potential of
the champion over an iteration, and what RAM says of the episodes, which the judges never see: story
steps, rooms and the game's own return. When the first rose over a window and none of the others
did: alarm.

Versions come and go within a window, each with a scale of its own. So what counts is how the return
rises while one version is live, by a line through its iterations, summed over the versions; what
happens from one version to the next says nothing.

What RAM says is the mean of the last 100 episodes, so a window holds as many iterations as it takes
for two such means of different episodes. Over fewer the game would always seem to stand still.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rlaif.contracts.telemetry import TrainingProgress

_MOST_READINGS = 20_000
"""A bound for a run whose episodes never end."""

_LEAST_OF_A_VERSION = 4
"""Iterations of a version below which it says nothing."""

_LEAST_SIGMAS = 4.0
"""Standard errors by which the rise of the return must stand out from its noise."""

_MOST_CORRELATION = 0.95


class MonitorSettings(BaseModel, frozen=True, extra="forbid"):
    """When an alarm is raised, and what follows."""

    rollback: bool = Field(
        default=True,
        description="Whether an alarm of the watchdog goes back to the version before and pins it. "
        "False only counts and logs alarms.",
    )
    pin_minutes: float = Field(
        default=30.0,
        ge=0,
        description="How long a roll-back stays; then candidates, which have learned by now what "
        "the judges say of it, may go live. 0: until a person unpins it.",
    )
    iterations: int = Field(
        default=40,
        ge=4,
        le=10_000,
        description="Training iterations that the watchdog looks back on, at least. More: surer, "
        "and later.",
    )
    episodes: int = Field(
        default=100,
        ge=1,
        description="Episodes that end in each half of them, at least: what the trainer tells of "
        "the game is the mean of its last 100. Fewer: earlier, and alarms for policies whose "
        "episodes have not ended yet.",
    )
    rise: float = Field(
        default=0.05,
        gt=0,
        description="Rise of the mean potential over them, while versions are live, that counts. "
        "Higher: fewer alarms.",
    )
    flat: float = Field(
        default=0.02,
        ge=0,
        description="Share by which milestones, rooms and the game's own return may rise and still "
        "count as flat. Higher: more alarms.",
    )

    @property
    def pin_for(self) -> timedelta | None:
        """How long a roll-back stays; None: until a person unpins it."""
        return timedelta(minutes=self.pin_minutes) if self.pin_minutes > 0 else None


@dataclass(frozen=True)
class Alarm:
    """The model's return rose and the game stood still: what was live, and when it was noticed.

    Attributes:
        rise: Rise of the model's return over the window, without what came of new versions.
        game: What the game shows → (before, now), means over episodes.
    """

    version: int
    run_id: str
    iteration: int
    rise: float
    game: dict[str, tuple[float, float]]

    @property
    def reason(self) -> str:
        """One sentence for people."""
        shown = ", ".join(
            f"{name} from {before:.2f} to {now:.2f}" for name, (before, now) in self.game.items()
        )
        return (
            f"the return of the reward model, now version {self.version}, rose by {self.rise:.3f} "
            f"while episodes stayed as before ({shown}): it is being gamed"
        )


@dataclass(frozen=True)
class _Reading:
    """One iteration: the model's return, episodes ended so far, and what the last ones show."""

    version: int
    model_return: float
    episodes: int
    game: dict[str, float]


@dataclass
class RewardHackingMonitor:
    """Folds readings; `alarm` is the last of `alarms`, None before the first."""

    settings: MonitorSettings = field(default_factory=MonitorSettings)
    alarm: Alarm | None = None
    alarms: int = 0
    _watched: str | None = None
    _iteration: int = -1
    _readings: deque[_Reading] = field(default_factory=lambda: deque(maxlen=_MOST_READINGS))

    @property
    def iterations(self) -> int:
        """Iterations that are remembered, up to the window."""
        return len(self._readings)

    def observe(self, progress: TrainingProgress) -> Alarm | None:
        """Fold one reading in; gives the alarm when this one raises it.

        Each run starts anew. A repeated iteration counts once. Readings without a version, a return
        or anything of the game say nothing.
        """
        version = progress.reward_model_version
        model_return = progress.potential_mean
        if model_return is None:
            model_return = progress.shaped_return_mean
        game = _shown(progress)
        if version is None or model_return is None or not game:
            return None
        if self._watched != progress.run_id:
            self._watched = progress.run_id
            self._readings.clear()
            self._iteration = -1
        if progress.iteration <= self._iteration:
            return None
        self._iteration = progress.iteration
        self._readings.append(_Reading(version, model_return, progress.episodes, game))
        while len(self._readings) > 1 and self._is_window(1):
            self._readings.popleft()
        return self._look(progress.run_id, version) if self._is_window(0) else None

    def _is_window(self, first: int) -> bool:
        """Whether the readings from the `first` on are a whole window."""
        episodes = self._readings[-1].episodes - self._readings[first].episodes
        enough = len(self._readings) - first >= self.settings.iterations
        return enough and episodes >= 2 * self.settings.episodes

    def _look(self, run_id: str, version: int) -> Alarm | None:
        rise, error = self._rise()
        if rise < self.settings.rise or rise <= _LEAST_SIGMAS * error:
            return None
        game = self._game()
        if not game or any(self._rose(*both) for both in game.values()):
            return None
        self.alarm = Alarm(version, run_id, self._iteration, rise, game)
        self.alarms += 1
        # The next alarm needs a whole window again.
        self._readings.clear()
        return self.alarm

    def _rise(self) -> tuple[float, float]:
        """(rise of the return within versions, its standard error)."""
        stretches = groupby(self._readings, key=lambda item: item.version)
        lines = [_line([item.model_return for item in own]) for _, own in stretches]
        known = [line for line in lines if line is not None]
        if not known:
            return 0.0, 0.0
        error = math.hypot(*(line.error for line in known)) * _dependence(known)
        return math.fsum(line.rise for line in known), error

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
        return now - before > self.settings.flat * abs(before)


def _shown(progress: TrainingProgress) -> dict[str, float]:
    """What RAM says of the last episodes, by name; only what is known."""
    shown = {
        "milestones": progress.milestones_mean,
        "rooms": progress.rooms_mean,
        "the game's own return": progress.episode_return_mean,
    }
    return {name: value for name, value in shown.items() if value is not None}


@dataclass(frozen=True)
class _Line:
    """A least-squares line through the returns of one version, and what it leaves, `[N]`.

    The error is the standard error of the rise, as if iterations were independent.
    """

    rise: float
    error: float
    rest: NDArray[np.float64]


def _line(returns: Sequence[float]) -> _Line | None:
    """The line of one version; None with too few returns to say anything."""
    count = len(returns)
    if count < _LEAST_OF_A_VERSION:
        return None
    values, at = np.array(returns, np.float64), np.arange(count) - (count - 1) / 2
    spread = float(at @ at)
    slope = float(at @ values) / spread
    rest = values - values.mean() - slope * at
    error = math.sqrt(float(rest @ rest) / (count - 2) / spread)
    return _Line(slope * (count - 1), error * (count - 1), rest)


def _dependence(lines: Sequence[_Line]) -> float:
    """By how much dependence between iterations widens the error: they share running episodes.

    sqrt((1 + r) / (1 - r)) for the correlation r of neighbours, which short lines make too small by
    about (2 + 4 r) / N. Without this, 15 of 100 windows of noise with r = 0.9 stand out by 4
    errors; with it fewer than one.
    """
    squares = math.fsum(float(line.rest @ line.rest) for line in lines)
    if squares == 0.0:
        return 1.0
    neighbours = math.fsum(float(line.rest[:-1] @ line.rest[1:]) for line in lines)
    r = neighbours / squares
    r += (2 + 4 * max(r, 0.0)) * len(lines) / sum(len(line.rest) for line in lines)
    r = min(max(r, 0.0), _MOST_CORRELATION)
    return math.sqrt((1 + r) / (1 - r))
