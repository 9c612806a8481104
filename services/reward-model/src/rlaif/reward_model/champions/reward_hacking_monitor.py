"""Detects reward hacking: the reward model's potential rises without progress in the game.

Series 1 comes from the trainer's telemetry (`telemetry.progress`): the mean potential of the
champion per iteration, and what the game's RAM says about finished episodes. Series 2 are the
judges' scores of segments of the same run. When the potential rose over a window and RAM progress
stayed flat, or the judges' scores fell, the monitor raises one alarm with these reasons.

Reward models are replaced within a window and differ in scale. The rise is therefore fitted per
version (a least-squares line) and summed; jumps between versions do not count.

RAM figures are means of the last 100 episodes, so a window lasts until two such means do not share
episodes.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GamingAlarm, GamingReason
from rlaif.contracts.telemetry.readings import TrainingProgress
from rlaif.reward_model.labels.labels import LabelledSegment

WINDOW_ITERATIONS = 40
WINDOW_EPISODES = 100
"""Minimum window: iterations, and episodes that end in each half of it."""

MIN_RISE = 0.05
"""Rise of the mean potential over a window."""

MAX_FLAT_CHANGE = 0.02
"""Relative increase of a RAM figure up to which it counts as flat."""

_MIN_SIGMAS = 4.0
"""Standard errors by which the rise of the potential must exceed 0."""

_MIN_ITERATIONS_OF_A_VERSION = 4
_MAX_READINGS = 20_000
_MAX_CORRELATION = 0.95

_MIN_JUDGED_EPISODES = 20
"""Per half of a window."""

_MIN_LOWER_SHARE = 0.6
"""Share of (later, earlier) pairs of judged episodes in which the later one scores lower."""

_MIN_JUDGED_SIGMAS = 2.58


@dataclass
class RewardHackingMonitor:
    """Consumes telemetry; `alarm` is the last of `alarms`, None before the first."""

    window_iterations: int = WINDOW_ITERATIONS
    window_episodes: int = WINDOW_EPISODES
    alarm: GamingAlarm | None = None
    alarms: int = 0
    _readings: deque[TrainingProgress] = field(default_factory=lambda: deque(maxlen=_MAX_READINGS))
    _last: TrainingProgress | None = None

    @property
    def iterations(self) -> int:
        return len(self._readings)

    def observe(
        self, progress: TrainingProgress, labels: Sequence[LabelledSegment] = ()
    ) -> GamingAlarm | None:
        """Add a reading; returns the alarm if this reading raises one.

        `labels` are the judged segments known now. A new run clears the window. A repeated
        iteration counts once. Readings without a version, a potential or RAM figures are ignored.
        """
        version = progress.reward_model_version
        if version is None or _potential(progress) is None or not _ram_figures(progress):
            return None
        last, self._last = self._last, progress
        if last is None or last.run_id != progress.run_id:
            self._readings.clear()
        elif progress.iteration <= last.iteration:
            self._last = last
            return None
        self._readings.append(progress)
        while len(self._readings) > 1 and self._is_window(1):
            self._readings.popleft()
        return self._check(progress, version, labels) if self._is_window(0) else None

    def _is_window(self, first: int) -> bool:
        """Whether the readings starting at index `first` are a full window."""
        episodes = self._readings[-1].episodes - self._readings[first].episodes
        enough = len(self._readings) - first >= self.window_iterations
        return enough and episodes >= 2 * self.window_episodes

    def _check(
        self, progress: TrainingProgress, version: int, labels: Sequence[LabelledSegment]
    ) -> GamingAlarm | None:
        rise, error = self._rise()
        if rise < MIN_RISE or rise <= _MIN_SIGMAS * error:
            return None
        reasons: dict[GamingReason, str] = {}
        game = self._game()
        if game and not any(now - old > MAX_FLAT_CHANGE * abs(old) for old, now in game.values()):
            figures = ", ".join(f"{name} {a:.2f} → {b:.2f}" for name, (a, b) in game.items())
            reasons[GamingReason.RAM_PROGRESS_FLAT] = f"RAM progress flat ({figures})"
        judged = self._judged_halves(progress.run_id, labels)
        if _fell(*judged):
            before, after = (fmean(half) for half in judged)
            scores = f"{before:.2f} → {after:.2f}"
            reasons[GamingReason.JUDGES_SCORES_FALL] = f"judges' scores fall ({scores})"
        if not reasons:
            return None
        self.alarm = GamingAlarm(
            version=version,
            run_id=progress.run_id,
            iteration=progress.iteration,
            rise=rise,
            reasons=tuple(reasons),
            description=f"possible reward hacking: the mean potential of reward model {version} "
            f"rose by {rise:.3f}; {'; '.join(reasons.values())}",
            raised_at=progress.at,
        )
        self.alarms += 1
        # The next alarm needs a full window again.
        self._readings.clear()
        return self.alarm

    def _rise(self) -> tuple[float, float]:
        groups = groupby(self._readings, key=lambda item: item.reward_model_version)
        lines = [_line([_potential(item) or 0.0 for item in own]) for _, own in groups]
        known = [line for line in lines if line is not None]
        if not known:
            return 0.0, 0.0
        error = math.hypot(*(line.error for line in known)) * _error_inflation(known)
        return math.fsum(line.rise for line in known), error

    def _game(self) -> dict[str, tuple[float, float]]:
        now = self._readings[-1]
        before = next(
            item
            for item in reversed(self._readings)
            if now.episodes - item.episodes >= self.window_episodes
        )
        old, new = _ram_figures(before), _ram_figures(now)
        return {name: (old[name], value) for name, value in new.items() if name in old}

    def _judged_halves(
        self, run_id: str, labels: Iterable[LabelledSegment]
    ) -> tuple[list[float], list[float]]:
        """Mean score per judged episode, in the earlier and the later half of the window.

        Segments of one episode are not independent, so an episode counts once.
        """
        first, last = self._readings[0].env_steps, self._readings[-1].env_steps
        episodes: dict[str, list[LabelledSegment]] = {}
        for item in labels:
            if item.run_id == run_id and first <= item.env_step <= last and not item.revision:
                episodes.setdefault(item.episode_id, []).append(item)
        halves: tuple[list[float], list[float]] = ([], [])
        for segments in episodes.values():
            scores = [item.weighted for item in segments if item.weighted is not None]
            if scores:
                halves[segments[0].env_step >= (first + last) / 2].append(fmean(scores))
        return halves


def _potential(progress: TrainingProgress) -> float | None:
    """Mean potential; of older trainers the shaped return."""
    found = progress.potential_mean
    return progress.shaped_return_mean if found is None else found


def _ram_figures(progress: TrainingProgress) -> dict[str, float]:
    figures = {
        "milestones": progress.milestones_mean,
        "rooms": progress.rooms_mean,
        "return of the game": progress.episode_return_mean,
    }
    return {name: value for name, value in figures.items() if value is not None}


def _fell(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether later scores are lower (Mann-Whitney U, normal approximation with ties)."""
    if min(len(before), len(after)) < _MIN_JUDGED_EPISODES:
        return False
    difference = np.array(before)[:, None] - np.array(after)[None]
    lower = float(np.mean((np.sign(difference) + 1) / 2))
    count = len(before) + len(after)
    _, ties = np.unique([*before, *after], return_counts=True)
    correction = float((ties**3 - ties).sum()) / (count * (count - 1))
    error = math.sqrt(max(0.0, (count + 1 - correction) / (12 * len(before) * len(after))))
    return lower >= _MIN_LOWER_SHARE and lower - 0.5 >= _MIN_JUDGED_SIGMAS * error > 0


@dataclass(frozen=True)
class _Line:
    """Least-squares line through the potentials of one version; residuals `[N]`.

    `error` is the standard error of the rise if iterations were independent.
    """

    rise: float
    error: float
    residuals: NDArray[np.float64]


def _line(potentials: Sequence[float]) -> _Line | None:
    count = len(potentials)
    if count < _MIN_ITERATIONS_OF_A_VERSION:
        return None
    values, at = np.array(potentials, np.float64), np.arange(count) - (count - 1) / 2
    spread = float(at @ at)
    slope = float(at @ values) / spread
    residuals = values - values.mean() - slope * at
    error = math.sqrt(float(residuals @ residuals) / (count - 2) / spread)
    return _Line(slope * (count - 1), error * (count - 1), residuals)


def _error_inflation(lines: Sequence[_Line]) -> float:
    """Factor on the error for autocorrelation: consecutive iterations share running episodes.

    sqrt((1 + r) / (1 - r)) for the lag-1 correlation r, which short lines underestimate by about
    (2 + 4 r) / N. Without it, 15 of 100 windows of noise with r = 0.9 exceed 4 errors.
    """
    squares = math.fsum(float(line.residuals @ line.residuals) for line in lines)
    if squares == 0.0:
        return 1.0
    neighbours = math.fsum(float(line.residuals[:-1] @ line.residuals[1:]) for line in lines)
    r = neighbours / squares
    r += (2 + 4 * max(r, 0.0)) * len(lines) / sum(len(line.residuals) for line in lines)
    r = min(max(r, 0.0), _MAX_CORRELATION)
    return math.sqrt((1 + r) / (1 - r))
