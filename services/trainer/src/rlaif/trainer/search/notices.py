"""What each worker has not been told yet of what the others found."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rlaif.game.motion.room_graph import Crossing
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.marks import Marks


@dataclass
class Notice:
    """News for one worker."""

    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: list[bytes] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)


class Notices:
    """News for all workers, by number; who found something need not be told of it."""

    def __init__(self, workers: int) -> None:
        self._of = [Notice() for _ in range(workers)]

    def take(self, worker: int) -> Notice:
        """What a worker is told now."""
        told, self._of[worker] = self._of[worker], Notice()
        return told

    def cells(self, cells: dict[bytes, Worth], marks: Marks, *, by: int | None = None) -> None:
        """These cells are known, and these marks."""
        for notice in self._others(by):
            notice.cells.update(cells)
            notice.marks |= marks

    def drop(self, cells: Iterable[bytes]) -> None:
        """These cells are known no more, whoever found them."""
        dropped = tuple(cells)
        for notice in self._of:
            notice.dropped.extend(dropped)
            for cell in dropped:
                notice.cells.pop(cell, None)

    def tries(self, tries: dict[bytes, int], *, by: int | None = None) -> None:
        """This was tried so often more."""
        for notice in self._others(by):
            for key, count in tries.items():
                notice.tries[key] = notice.tries.get(key, 0) + count

    def crossings(self, crossings: Iterable[Crossing], *, by: int | None = None) -> None:
        """These ways between rooms were walked."""
        found = tuple(crossings)
        for notice in self._others(by):
            notice.crossings.extend(found)

    def _others(self, by: int | None) -> Iterable[Notice]:
        return (notice for worker, notice in enumerate(self._of) if worker != by)
