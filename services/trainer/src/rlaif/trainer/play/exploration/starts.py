"""Mixes archived states into the starts of episodes."""

import contextlib

import numpy as np

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts, choose
from rlaif.trainer.play.exploration.practice import Practice
from rlaif.trainer.play.exploration.states import ArchivedStateError, ArchiveRecord
from rlaif.trainer.play.start import Start, StartSource


class ArchiveStarts:
    """A `StartSource`: practice, else an archived state, else a start of the game.

    Deterministic in the generator, the archive and the counts.
    """

    def __init__(
        self,
        given: StartSource,
        *,
        archive: StateArchive,
        counts: CellCounts,
        practice: Practice,
        restarts: float,
    ) -> None:
        """Draw from the archive for the share `restarts`, 0 to 1, of the remaining episodes.

        Practice comes first. Starts from a cell are counted in `counts`; the others are drawn from
        `given`.
        """
        if not 0 <= restarts <= 1:
            raise ValueError(f"share of restarts {restarts} must be 0 to 1")
        self._given = given
        self._archive = archive
        self._counts = counts
        self._practice = practice
        self._restarts = restarts

    def choose(self, rng: np.random.Generator) -> Start:
        """Return the next start; archived states that cannot be used are skipped."""
        practised = self._practice.draw(rng)
        if practised is not None:
            return practised
        record = self._drawn(rng)
        if record is not None:
            with contextlib.suppress(ArchivedStateError):
                state, packed = self._archive.load(record.sha256)
                keyframe = PackedKeyframe(packed, record.sha256)
                name = f"archive:{record.sha256[:12]}"
                return Start(state, name, keyframe, from_play=record.parent is not None)
        return self._given.choose(rng)

    def _drawn(self, rng: np.random.Generator) -> ArchiveRecord | None:
        if rng.random() >= self._restarts:
            return None
        cells = self._archive.cells
        if not cells:
            return None
        cell = choose(cells, self._counts, rng)
        self._counts.fruitless[cell] += 1
        return self._archive.at(cell)
