"""Curves over environment steps.

The trainer keeps the return and the loads of its run and tells them again and again, so a HUD that
came later draws what one from the beginning draws. The scores come from the event streams.
"""

from dataclasses import dataclass
from statistics import fmean

from rlaif.contracts.telemetry import ModelLoad, RunHistory, TrainingProgress
from rlaif.hud.read_model.views import SeriesView, VersionMark

Point = tuple[int, float]


def thin(points: list[Point], most: int) -> list[Point]:
    """At most `most` points, evenly picked, and the newest one.

    Those that were picked stay as points are added, until every second of them goes: a page is told
    of the new ones alone.
    """
    stride = 1
    while len(points) > stride * most:
        stride *= 2
    picked = points[::stride]
    return picked if (len(points) - 1) % stride == 0 else [*picked, points[-1]]


def trailing_means(points: list[Point], window: int) -> list[Point]:
    """The mean of each value and up to `window - 1` values before it."""
    values = [value for _, value in points]
    return [
        (step, fmean(values[max(0, index + 1 - window) : index + 1]))
        for index, (step, _) in enumerate(points)
    ]


@dataclass
class _Score:
    run_id: str
    env_step: int | None = None
    weighted: float | None = None


class Series:
    """Collects points of the current run.

    A mean is over `score_window` of the `keep_scores` newest scored segments. A curve has at most
    `most_points`; a chart is about 600 pixels wide.
    """

    def __init__(
        self, *, most_points: int = 300, keep_scores: int = 2000, score_window: int = 20
    ) -> None:
        self._most_points = most_points
        self._keep_scores = keep_scores
        self._score_window = score_window
        self._history: RunHistory | None = None
        self._progress: TrainingProgress | None = None
        self._scores: dict[str, _Score] = {}

    def history(self, reading: RunHistory) -> None:
        """What the trainer says its run went through."""
        self._history = reading

    def progress(self, reading: TrainingProgress) -> None:
        """Where the trainer stands: the newest point, and perhaps a load newer than the history."""
        self._progress = reading

    def captured(self, segment_id: str, run_id: str, env_step: int) -> None:
        """Where in the run a segment lies."""
        self._score(segment_id, run_id).env_step = env_step

    def scored(self, segment_id: str, run_id: str, weighted: float | None) -> None:
        """What the judges gave; None leaves no point."""
        self._score(segment_id, run_id).weighted = weighted

    def loads(self, run_id: str | None) -> tuple[ModelLoad, ...]:
        """Every load of one run that is known, oldest first; a version may come again."""
        history = self._history_of(run_id)
        told = history.loads if history else ()
        newest = _load_of(self._progress_of(run_id))
        if newest is None or any(_same(load, newest) for load in told):
            return told
        return (*told, newest)

    def view(self, run_id: str | None, loads: tuple[ModelLoad, ...] | None = None) -> SeriesView:
        """The curves of one run; with its `loads` where others than it told are known."""
        scores = sorted(
            (score.env_step, score.weighted)
            for score in self._scores.values()
            if score.run_id == run_id and score.env_step is not None and score.weighted is not None
        )
        return SeriesView(
            episode_return=tuple(self._returns(run_id)),
            score_mean=tuple(thin(trailing_means(scores, self._score_window), self._most_points)),
            score_window=self._score_window,
            versions=tuple(
                VersionMark(step=load.env_step, version=load.version)
                for load in (self.loads(run_id) if loads is None else loads)
            ),
        )

    def _returns(self, run_id: str | None) -> list[Point]:
        history, now = self._history_of(run_id), self._progress_of(run_id)
        told = list(history.episode_return) if history else []
        if now is None or now.episode_return_mean is None:
            return told
        newest = (now.env_steps, now.episode_return_mean)
        return [*(point for point in told if point[0] < newest[0]), newest]

    def _history_of(self, run_id: str | None) -> RunHistory | None:
        return self._history if self._history and self._history.run_id == run_id else None

    def _progress_of(self, run_id: str | None) -> TrainingProgress | None:
        return self._progress if self._progress and self._progress.run_id == run_id else None

    def _score(self, segment_id: str, run_id: str) -> _Score:
        score = self._scores.setdefault(segment_id, _Score(run_id))
        if len(self._scores) > 2 * self._keep_scores:
            self._forget(but=segment_id)
        return score

    def _forget(self, *, but: str) -> None:
        """Drop the oldest entries, first those that never got a score."""
        others = [key for key in self._scores if key != but]
        others.sort(key=lambda key: self._scores[key].weighted is not None)
        for key in others[: self._keep_scores]:
            del self._scores[key]


def _load_of(progress: TrainingProgress | None) -> ModelLoad | None:
    if progress is None or progress.reward_model_loaded_at_step is None:
        return None
    if progress.reward_model_version is None:
        return None
    return ModelLoad(
        version=progress.reward_model_version,
        env_step=progress.reward_model_loaded_at_step,
        at=progress.at,
    )


def _same(one: ModelLoad, other: ModelLoad) -> bool:
    """Whether both tell of one load; its time is told by two clocks' ticks."""
    return (one.version, one.env_step) == (other.version, other.env_step)
