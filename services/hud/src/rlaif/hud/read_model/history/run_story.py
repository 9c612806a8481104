"""One run: its events are folded into points, loads and cohorts of episodes.

A cohort is the episodes that started between two model loads. A run of any length keeps a bounded
number of points, and the newest episodes of each cohort.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from rlaif.contracts.events import (
    RunDescribed,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
)
from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.hud.read_model.history.points import Point, point_of, thinned
from rlaif.hud.read_model.history.views import LoadMark, StartMark

MAX_POINTS = 1000
"""Points of a run, up to 5 kB each; twice as many are merged in pairs."""

MAX_POINTS_OF_OLDER_RUNS = 300
MAX_LOADS = 100
MAX_EVALUATIONS = 1000

MAX_COHORT = 100
"""Newest episodes of a cohort that are compared."""

_MAX_KEPT_OF_COHORT = 400
"""More are kept: the newest count only when those that started with them have finished."""

_SAMPLE = 2000


@dataclass(frozen=True, order=True, slots=True)
class Episode:
    """A finished episode; ordered by its start."""

    began: int
    ended: int
    gained: int | None = field(compare=False)
    rooms: int = field(compare=False)
    reward: float = field(compare=False)
    shaped: float | None = field(compare=False)
    died: bool | None = field(compare=False)


class RunStory:
    """The history of one run.

    Attributes:
        judged: Whether reward models are used in it; None: not reported.
        recipe: Runs of one recipe differ in the judges alone; None: not reported.
        provenance: Settings, sources and machine of the last attempt; None: not reported.
        description: Name, note and tags that people gave it.
        oldest_open: All episodes that started before this step have finished; None: unknown.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.judged: bool | None = None
        self.recipe: str | None = None
        self.provenance: RunProvenance | None = None
        self.description = RunDescription()
        self.oldest_open: int | None = None
        self.starts: list[StartMark] = []
        self.loads: list[LoadMark] = []
        self.points: list[Point] = []
        self.evaluations: list[RunEvaluated] = []
        self._cohorts: list[list[Episode]] = [[]]
        self._sample: list[Episode] = []
        self._stride = 1
        self._seen = 0

    @property
    def step(self) -> int:
        return self.points[-1].env_step if self.points else 0

    @property
    def at(self) -> datetime | None:
        newest: list[StartMark | Point | LoadMark] = [*self.starts[-1:], *self.points[-1:]]
        return max((each.at for each in [*newest, *self.loads[-1:]]), default=None)

    def started(self, event: RunStarted) -> bool:
        """Fold a start or resumption of the run; returns False if the event is known."""
        if self.starts and event.attempt <= self.starts[-1].attempt:
            return False
        self.judged, self.recipe = event.judged, event.recipe
        self.provenance = event.provenance or self.provenance
        self._rewind(event.env_step)
        start = StartMark(attempt=event.attempt, step=event.env_step, at=event.at)
        self.starts = [*self.starts, start][-MAX_LOADS:]
        return True

    def loaded(self, event: RunLoaded) -> bool:
        """Fold a model load; returns False if the model is in use or the event is outdated."""
        if self._is_outdated(event.attempt):
            return False
        last = self.loads[-1] if self.loads else None
        if (last.version if last else None) == event.version:
            return False
        if last is not None and event.env_step < last.step:
            return False
        self.loads.append(LoadMark(version=event.version, step=event.env_step, at=event.at))
        self._cohorts.append([])
        for settled in self._cohorts[:-2]:
            del settled[:-MAX_COHORT]
        if len(self.loads) > MAX_LOADS:
            del self.loads[0]
            del self._cohorts[0]
        return True

    def iterated(self, event: RunIterated) -> bool:
        """Fold an iteration; returns False if the event is known."""
        if self._is_outdated(event.attempt) or event.env_step <= self.step:
            return False
        self.points.append(point_of(event))
        self._merge_points(MAX_POINTS)
        self.oldest_open = event.oldest_open
        self._add_episodes(event.episodes, event.env_step)
        return True

    def described(self, event: RunDescribed) -> bool:
        """Fold a description by a person; returns False if nothing changes."""
        before = self.description
        self.description = RunDescription(
            **event.model_dump(include=set(RunDescription.model_fields))
        )
        return self.description != before

    @property
    def milestones(self) -> float | None:
        """Mean milestones of the newest episodes that count; None without any."""
        known = [each.gained for each in self.newest() if each.gained is not None]
        return sum(known) / len(known) if known else None

    def evaluated(self, event: RunEvaluated) -> bool:
        """Fold an evaluation; returns False if the event is known or outdated."""
        known = ((each.env_step, each.player) for each in self.evaluations)
        if self._is_outdated(event.attempt) or (event.env_step, event.player) in known:
            return False
        self.evaluations = [*self.evaluations, event][-MAX_EVALUATIONS:]
        return True

    def cohort(self, index: int) -> list[Episode]:
        """The newest episodes that started between load `index` - 1 and load `index`.

        Excludes those that started with one that is still running, which would favour short ones.
        """
        return self._complete(self._cohorts[index])[-MAX_COHORT:]

    def unfinished(self, index: int) -> int:
        return len(self._cohorts[index]) - len(self._complete(self._cohorts[index]))

    def is_complete(self, step: int) -> bool:
        """Whether all episodes that started before this step have finished."""
        return self.oldest_open is not None and self.oldest_open >= step

    def ends(self) -> tuple[list[Episode], list[Episode]]:
        """The first and the newest episodes of the run, two disjoint groups of equal size."""
        known = self._complete(self._sample)
        many = min(MAX_COHORT, len(known) // 2)
        return known[:many], self.newest()[-many:] if many else []

    def newest(self) -> list[Episode]:
        found: list[Episode] = []
        for index in reversed(range(len(self._cohorts))):
            found = [*self.cohort(index), *found]
            if len(found) >= MAX_COHORT:
                break
        return found[-MAX_COHORT:]

    def between(self, since: int, until: int) -> list[Episode]:
        return [each for each in self._complete(self._sample) if since <= each.began < until]

    def _complete(self, episodes: list[Episode]) -> list[Episode]:
        until = self.oldest_open
        return sorted(each for each in episodes if until is not None and each.began < until)

    def _is_outdated(self, attempt: int) -> bool:
        return bool(self.starts) and attempt < self.starts[-1].attempt

    def _add_episodes(self, rows: EndedEpisodes, step: int) -> None:
        borders = [load.step for load in self.loads]
        for episode in _episodes(rows, step):
            kept = self._cohorts[bisect_right(borders, episode.began)]
            insort(kept, episode)
            if len(kept) > _MAX_KEPT_OF_COHORT:
                del kept[0]
            if self._seen % self._stride == 0:
                self._sample.append(episode)
            self._seen += 1
        if len(self._sample) > _SAMPLE:
            self._sample = self._sample[::2]
            self._stride *= 2

    def shrink(self) -> None:
        """Keep fewer points, since another run is the newest."""
        self._merge_points(MAX_POINTS_OF_OLDER_RUNS)

    def _merge_points(self, most: int) -> None:
        if len(self.points) > 2 * most:
            self.points = thinned(self.points, most, borders={load.step for load in self.loads})

    def _rewind(self, step: int) -> None:
        """Drop everything after the checkpoint from which the run is resumed."""
        while self.points and self.points[-1].env_step > step:
            self.points.pop()
            self.oldest_open = None
        while self.loads and self.loads[-1].step > step:
            self.loads.pop()
            self._cohorts.pop()
        self._cohorts = [
            [episode for episode in cohort if episode.ended <= step] for cohort in self._cohorts
        ]
        self._sample = [episode for episode in self._sample if episode.ended <= step]
        self.evaluations = [each for each in self.evaluations if each.env_step <= step]


def _episodes(rows: EndedEpisodes, step: int) -> Iterator[Episode]:
    for row in zip(
        rows.began, rows.gained, rows.rooms, rows.returns, rows.shaped, rows.died, strict=True
    ):
        began, *figures = row
        if began is not None:
            yield Episode(began, step, *figures)
