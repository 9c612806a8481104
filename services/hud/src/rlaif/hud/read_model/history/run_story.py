"""The story of one run: its events in, pieces, loads and cohorts of episodes out.

A cohort is the episodes that began while one reward model paid, from its load to the next. All of
it is bounded: a run of any length keeps some thousand pieces and the newest episodes of each
cohort.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from rlaif.contracts.events import RunIterated, RunLoaded, RunStarted
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.hud.read_model.history.pieces import Piece, joined, piece_of

MOST_PIECES = 1000
"""Kept of a run, 2 kB each; twice as many are put together two by two."""

MOST_PIECES_AT_REST = 300
"""Likewise of a run that another one followed."""

MOST_LOADS = 100
COHORT = 100
"""Episodes of a cohort that are compared: the newest."""

_KEPT_OF_A_COHORT = 400
"""More, as the newest may belong to a time in which others still run."""

_SAMPLE = 2000


@dataclass(frozen=True, order=True, slots=True)
class Episode:
    """A finished episode; in the order in which they began."""

    began: int
    ended: int
    gained: int | None = field(compare=False)
    rooms: int = field(compare=False)
    reward: float = field(compare=False)
    shaped: float | None = field(compare=False)
    died: bool | None = field(compare=False)


@dataclass(frozen=True)
class Load:
    """From `env_step` on `version` paid; None for none."""

    version: int | None
    env_step: int
    at: datetime


@dataclass(frozen=True)
class Start:
    """A training process began with the run, or went on with it, at `env_step`."""

    attempt: int
    env_step: int
    at: datetime


class RunStory:
    """What is known of one run.

    Attributes:
        judged: Whether a reward model may pay in it; None: not told.
        recipe: Runs of one recipe differ in the judges alone; None: not told.
        oldest_open: Of the episodes that began before this step all have ended; None: not known.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.judged: bool | None = None
        self.recipe: str | None = None
        self.oldest_open: int | None = None
        self.starts: list[Start] = []
        self.loads: list[Load] = []
        self.pieces: list[Piece] = []
        self._cohorts: list[list[Episode]] = [[]]
        self._sample: list[Episode] = []
        self._stride = 1
        self._seen = 0

    @property
    def step(self) -> int:
        """How far it came."""
        return self.pieces[-1].env_step if self.pieces else 0

    @property
    def at(self) -> datetime | None:
        """When it was heard of last, by the trainer's clock."""
        starts, pieces, loads = self.starts[-1:], self.pieces[-1:], self.loads[-1:]
        told = [
            *(start.at for start in starts),
            *(piece.at for piece in pieces),
            *(load.at for load in loads),
        ]
        return max(told, default=None)

    def started(self, event: RunStarted) -> bool:
        """A process began or went on with it; False when that is known."""
        if self.starts and event.attempt <= self.starts[-1].attempt:
            return False
        self.judged, self.recipe = event.judged, event.recipe
        self._cut(event.env_step)
        self.starts = [*self.starts, Start(event.attempt, event.env_step, event.at)][-MOST_LOADS:]
        return True

    def loaded(self, event: RunLoaded) -> bool:
        """Another model pays; False when it is the one that paid already, or the event is old."""
        if self._is_of_the_past(event.attempt):
            return False
        last = self.loads[-1] if self.loads else None
        if (last.version if last else None) == event.version:
            return False
        if last is not None and event.env_step < last.env_step:
            return False
        self.loads.append(Load(event.version, event.env_step, event.at))
        self._cohorts.append([])
        for settled in self._cohorts[:-2]:
            del settled[:-COHORT]
        if len(self.loads) > MOST_LOADS:
            del self.loads[0]
            del self._cohorts[0]
        return True

    def iterated(self, event: RunIterated) -> bool:
        """It went on; False when that is known."""
        if self._is_of_the_past(event.attempt) or event.env_step <= self.step:
            return False
        self.pieces.append(piece_of(event))
        self._put_together(MOST_PIECES)
        self.oldest_open = event.oldest_open
        self._take(event.episodes, event.env_step)
        return True

    def cohort(self, index: int) -> list[Episode]:
        """The newest episodes that began between load `index` - 1 and load `index`.

        Only such as began when none still runs: else the short ones would speak for all.
        """
        until = self.oldest_open
        complete = [
            episode
            for episode in self._cohorts[index]
            if until is not None and episode.began < until
        ]
        return complete[-COHORT:]

    def unfinished(self, index: int) -> int:
        """Episodes of a cohort that ended, while others that began with them still run."""
        until = self.oldest_open
        return sum(until is None or episode.began >= until for episode in self._cohorts[index])

    def is_complete(self, step: int) -> bool:
        """Whether all episodes that began before this step have ended."""
        return self.oldest_open is not None and self.oldest_open >= step

    def ends(self) -> tuple[list[Episode], list[Episode]]:
        """The first episodes of the run and the newest; equally many, and none in both."""
        known = self._complete_sample()
        many = min(COHORT, len(known) // 2)
        return known[:many], self.newest()[-many:] if many else []

    def newest(self) -> list[Episode]:
        """The newest episodes that began when none still runs, of the newest cohorts."""
        found: list[Episode] = []
        for index in reversed(range(len(self._cohorts))):
            found = [*self.cohort(index), *found]
            if len(found) >= COHORT:
                break
        return found[-COHORT:]

    def between(self, since: int, until: int) -> list[Episode]:
        """An even sample of the episodes that began in these steps."""
        return [each for each in self._complete_sample() if since <= each.began < until]

    def _complete_sample(self) -> list[Episode]:
        until = self.oldest_open
        return sorted(each for each in self._sample if until is not None and each.began < until)

    def _is_of_the_past(self, attempt: int) -> bool:
        """Whether another attempt took the place of what the event tells of."""
        return bool(self.starts) and attempt < self.starts[-1].attempt

    def _take(self, rows: EndedEpisodes, step: int) -> None:
        borders = [load.env_step for load in self.loads]
        for episode in _episodes(rows, step):
            kept = self._cohorts[bisect_right(borders, episode.began)]
            insort(kept, episode)
            if len(kept) > _KEPT_OF_A_COHORT:
                del kept[0]
            if self._seen % self._stride == 0:
                self._sample.append(episode)
            self._seen += 1
        if len(self._sample) > _SAMPLE:
            self._sample = self._sample[::2]
            self._stride *= 2

    def rest(self) -> None:
        """Another run is the newest: take less room."""
        self._put_together(MOST_PIECES_AT_REST)

    def _put_together(self, most: int) -> None:
        """Halve the pieces while there are twice too many; none is of before and after a load."""
        borders = {load.env_step for load in self.loads}
        while len(self.pieces) > 2 * most:
            found: list[Piece] = []
            open_to_more = False
            for piece in self.pieces:
                if open_to_more and piece.since_step not in borders:
                    found[-1] = joined(found[-1], piece)
                    open_to_more = False
                else:
                    found.append(piece)
                    open_to_more = True
            if len(found) == len(self.pieces):
                break
            self.pieces = found

    def _cut(self, step: int) -> None:
        """A run that resumes from a checkpoint has not lived what came after it."""
        while self.pieces and self.pieces[-1].env_step > step:
            self.pieces.pop()
            self.oldest_open = None  # the next piece tells it
        while self.loads and self.loads[-1].env_step > step:
            self.loads.pop()
            self._cohorts.pop()
        self._cohorts = [
            [episode for episode in cohort if episode.ended <= step] for cohort in self._cohorts
        ]
        self._sample = [episode for episode in self._sample if episode.ended <= step]


def _episodes(rows: EndedEpisodes, step: int) -> Iterator[Episode]:
    for row in zip(
        rows.began, rows.gained, rows.rooms, rows.returns, rows.shaped, rows.died, strict=True
    ):
        began, *figures = row
        if began is not None:
            yield Episode(began, step, *figures)
