"""Detects reward hacking: the reward model's potential rises without progress in the game.

Series 1 comes from the stored history of the live run (`run.started`, `run.iterated`): the mean
potential of the live model per point, and RAM figures of the episodes that ended in it. Series 2
are the judges' scores of segments of the same run. When the potential rose over a window and RAM
progress stayed flat, or the judges' scores fell, the monitor raises one alarm with these reasons.

Reward models are replaced within a window and differ in scale. The rise is therefore fitted per
version (a least-squares line) and summed; jumps between versions do not count.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.events import ChampionChanged, RunIterated, RunStarted
from rlaif.contracts.reward_models import Champion, GamingAlarm, GamingReason
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.reward_model.labels.labels import LabelledSegment

WINDOW_ITERATIONS = 40
WINDOW_EPISODES = 100
"""Minimum window: points with a potential, and episodes that end in each half of it."""

MIN_RISE = 0.05
"""Rise of the mean potential over a window."""

MAX_FLAT_CHANGE = 0.02
"""Relative increase of a RAM figure up to which it counts as flat."""

_MIN_SIGMAS = 4.0
"""Standard errors by which the rise of the potential must exceed 0."""

_MIN_ITERATIONS_OF_A_VERSION = 4
_MAX_POINTS = 20_000
_MAX_FIGURE = 1e9
"""A larger potential or return is a fault; it counts as unknown."""

_MAX_CORRELATION = 0.95

_MIN_JUDGED_EPISODES = 20
"""Per half of a window."""

_MIN_LOWER_SHARE = 0.6
"""Share of (later, earlier) pairs of judged episodes in which the later one scores lower."""

_MIN_JUDGED_SIGMAS = 2.58


@dataclass(frozen=True, slots=True)
class _Point:
    """The figures that the monitor keeps of a `RunIterated`.

    Attributes:
        ended: Episodes of the window's run that ended up to here.
        potentials: Points of the window with a potential up to here.
        figures: RAM figure → its sum over episodes, and their number.
    """

    env_step: int
    version: int | None
    potential: float | None
    ended: int
    potentials: int
    figures: dict[str, tuple[float, int]]


@dataclass
class RewardHackingMonitor:
    """Aggregates the stored history of runs; `alarm` is the newest of `alarms`, or None.

    Only the attempt of a run that started last counts. A gap in its history begins a new window.
    """

    window_iterations: int = WINDOW_ITERATIONS
    window_episodes: int = WINDOW_EPISODES
    alarm: GamingAlarm | None = None
    alarms: int = 0
    _points: deque[_Point] = field(default_factory=lambda: deque(maxlen=_MAX_POINTS))
    _run: tuple[str, int] | None = None
    _step: int = 0
    _activation: int | None = None

    @property
    def iterations(self) -> int:
        """Points in the window now."""
        return len(self._points)

    def started(self, event: RunStarted) -> None:
        """Handle the start of a run, or its resumption: points after its step are discarded."""
        if self._run is not None and self._run[0] != event.run_id:
            self._points.clear()
        while self._points and self._points[-1].env_step > event.env_step:
            self._points.pop()
        self._run, self._step = (event.run_id, event.attempt), event.env_step

    def changed(self, event: ChampionChanged) -> None:
        """Handle a change of the champion: another one is live, or the same one is pinned."""
        self._activation = event.activation

    def iterated(
        self,
        event: RunIterated,
        champion: Champion | None = None,
        labels: Sequence[LabelledSegment] = (),
    ) -> GamingAlarm | None:
        """Add a point; returns the alarm if it raises one against `champion`, which is live now.

        A point from before the activation of `champion`, or of another version, raises none, so
        that reading the history again repeats no alarm. `labels` are the judged segments known now.
        """
        run = (event.run_id, event.attempt)
        if self._run is None:
            self._run, self._step = run, event.since_step  # its start is no longer stored
        if run != self._run or any(point.env_step == event.env_step for point in self._points):
            return None
        if event.since_step != self._step:
            self._points.clear()
        self._step = event.env_step
        self._add(event)
        is_of_champion = (
            champion is not None
            and event.reward_model_version == champion.version
            and self._activation == champion.activation
        )
        return self._check(event, labels) if is_of_champion and self._is_window(0) else None

    def _add(self, event: RunIterated) -> None:
        last = self._points[-1] if self._points else None
        potential = None if event.reward_model_version is None else _known(event.potential_mean)
        self._points.append(
            _Point(
                env_step=event.env_step,
                version=event.reward_model_version,
                potential=potential,
                ended=(last.ended if last else 0) + event.episodes.count,
                potentials=(last.potentials if last else 0) + (potential is not None),
                figures=_ram_figures(event.episodes),
            )
        )
        while len(self._points) > 1 and self._is_window(1):
            self._points.popleft()

    def _is_window(self, first: int) -> bool:
        """Whether the points starting at index `first` are a full window."""
        start, end = self._points[first], self._points[-1]
        known = end.potentials - start.potentials + (start.potential is not None)
        enough = known >= self.window_iterations
        return enough and end.ended - start.ended >= 2 * self.window_episodes

    def _check(self, event: RunIterated, labels: Sequence[LabelledSegment]) -> GamingAlarm | None:
        version = event.reward_model_version
        rise, error = self._rise()
        if version is None or rise < MIN_RISE or rise <= _MIN_SIGMAS * error:
            return None
        reasons: dict[GamingReason, str] = {}
        game = self._game()
        if game and not any(now - old > MAX_FLAT_CHANGE * abs(old) for old, now in game.values()):
            figures = ", ".join(f"{name} {a:.2f} → {b:.2f}" for name, (a, b) in game.items())
            reasons[GamingReason.RAM_PROGRESS_FLAT] = f"RAM progress flat ({figures})"
        judged = self._judged_halves(event.run_id, labels)
        if _fell(*judged):
            before, after = (fmean(half) for half in judged)
            scores = f"{before:.2f} → {after:.2f}"
            reasons[GamingReason.JUDGES_SCORES_FALL] = f"judges' scores fall ({scores})"
        if not reasons:
            return None
        self.alarm = GamingAlarm(
            version=version,
            run_id=event.run_id,
            env_step=event.env_step,
            rise=rise,
            reasons=tuple(reasons),
            description=f"possible reward hacking: the mean potential of reward model {version} "
            f"rose by {rise:.3f}; {'; '.join(reasons.values())}",
            raised_at=event.at,
        )
        self.alarms += 1
        # The next alarm needs a full window again.
        self._points.clear()
        return self.alarm

    def _rise(self) -> tuple[float, float]:
        fitted = (point for point in self._points if point.potential is not None)
        groups = groupby(fitted, key=lambda point: point.version)
        lines = [_line([point.potential or 0.0 for point in own]) for _, own in groups]
        known = [line for line in lines if line is not None]
        if not known:
            return 0.0, 0.0
        error = math.hypot(*(line.error for line in known)) * _error_inflation(known)
        return math.fsum(line.rise for line in known), error

    def _game(self) -> dict[str, tuple[float, float]]:
        """RAM figure → its means over the episodes of both halves of the window."""
        first, last = self._points[0].ended, self._points[-1].ended
        border = sum(2 * (point.ended - first) <= last - first for point in self._points)
        before = _means(islice(self._points, border))
        after = _means(islice(self._points, border, None))
        return {name: (before[name], value) for name, value in after.items() if name in before}

    def _judged_halves(
        self, run_id: str, labels: Iterable[LabelledSegment]
    ) -> tuple[list[float], list[float]]:
        """Mean score per judged episode, in the earlier and the later half of the window.

        Segments of one episode are not independent, so an episode counts once.
        """
        first, last = self._points[0].env_step, self._points[-1].env_step
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


def _known(value: float | None) -> float | None:
    return value if value is not None and abs(value) <= _MAX_FIGURE else None


def _ram_figures(episodes: EndedEpisodes) -> dict[str, tuple[float, int]]:
    columns = {
        "milestones": episodes.gained,
        "rooms": episodes.rooms,
        "return of the game": episodes.returns,
    }
    figures: dict[str, tuple[float, int]] = {}
    for name, column in columns.items():
        known = [value for value in map(_known, column) if value is not None]
        if known:
            # A row stands for `stride` episodes.
            figures[name] = (sum(known) * episodes.stride, len(known) * episodes.stride)
    return figures


def _means(points: Iterable[_Point]) -> dict[str, float]:
    sums: dict[str, tuple[float, int]] = {}
    for point in points:
        for name, (amount, count) in point.figures.items():
            total, many = sums.get(name, (0.0, 0))
            sums[name] = (total + amount, many + count)
    return {name: total / many for name, (total, many) in sums.items()}


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
