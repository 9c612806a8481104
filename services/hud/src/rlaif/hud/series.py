"""Curves over environment steps, thinned so that a long run costs as much as a short one."""

from dataclasses import dataclass
from statistics import fmean

from rlaif.hud.views import SeriesView, VersionMark

Point = tuple[int, float]


def thin(points: list[Point], most: int) -> list[Point]:
    """At most about `most` points, evenly picked; the newest one is always kept."""
    if len(points) <= most:
        return points
    stride = -(-len(points) // most)
    return points[::-1][::stride][::-1]


def trailing_means(points: list[Point], window: int) -> list[Point]:
    """The mean of each value and up to `window - 1` values before it."""
    values = [value for _, value in points]
    return [
        (step, fmean(values[max(0, index + 1 - window) : index + 1]))
        for index, (step, _) in enumerate(points)
    ]


class Curve:
    """Points of one run in the order of their steps, at an even spacing that grows with the run.

    Args:
        most: Points kept, at most twice this many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Point] = []
        self._newest: Point | None = None
        self._stride = 1
        self._added = 0

    def add(self, step: int, value: float) -> None:
        """Add a point; one that lies before the newest ones takes their place."""
        while self._kept and step <= self._kept[-1][0]:
            self._kept.pop()
        self._newest = (step, value)
        if self._added % self._stride == 0:
            self._kept.append(self._newest)
        self._added += 1
        if len(self._kept) >= 2 * self._most:
            self._kept = self._kept[::2]
            self._stride *= 2

    def points(self) -> list[Point]:
        """At most about `most` points, the newest one among them."""
        if self._newest is None:
            return []
        kept = [point for point in self._kept if point[0] < self._newest[0]]
        return thin([*kept, self._newest], self._most)


@dataclass
class _Score:
    run_id: str
    env_step: int | None = None
    weighted: float | None = None


class Series:
    """Collects points of the current run.

    Args:
        most_points: Points a curve in the view; a chart is about 600 pixels wide.
        keep_scores: Newest scored segments kept for the mean.
        score_window: Segments a mean is taken over.
    """

    def __init__(
        self, *, most_points: int = 300, keep_scores: int = 2000, score_window: int = 20
    ) -> None:
        self._most_points = most_points
        self._keep_scores = keep_scores
        self._score_window = score_window
        self._run_id: str | None = None
        self._returns = Curve(most_points)
        self._scores: dict[str, _Score] = {}
        self._versions: dict[int, int] = {}

    def progress(
        self, run_id: str, step: int, mean: float | None, version: int | None, since: int | None
    ) -> None:
        """One reading of the trainer.

        A new run starts the curves again; a run that resumed from a checkpoint goes on from there.
        """
        if run_id != self._run_id:
            self._returns, self._versions = Curve(self._most_points), {}
        self._run_id = run_id
        if version is not None and since is not None:
            self._versions[version] = since
        if mean is not None:
            self._returns.add(step, mean)

    def captured(self, segment_id: str, run_id: str, env_step: int) -> None:
        """Where in the run a segment lies."""
        self._score(segment_id, run_id).env_step = env_step

    def scored(self, segment_id: str, run_id: str, weighted: float | None) -> None:
        """What the judges gave; None leaves no point."""
        self._score(segment_id, run_id).weighted = weighted

    def view(self, run_id: str | None) -> SeriesView:
        """The curves of one run."""
        scores = sorted(
            (score.env_step, score.weighted)
            for score in self._scores.values()
            if score.run_id == run_id and score.env_step is not None and score.weighted is not None
        )
        live = run_id == self._run_id
        return SeriesView(
            episode_return=tuple(self._returns.points()) if live else (),
            score_mean=tuple(thin(trailing_means(scores, self._score_window), self._most_points)),
            score_window=self._score_window,
            scores=len(scores),
            versions=tuple(
                VersionMark(step=step, version=version)
                for version, step in sorted(self._versions.items())
                if live
            ),
        )

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
