"""Updates that each worker has not received yet about the discoveries of the other workers."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rlaif.game.motion.room_graph import Crossing
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.marks import Marks


@dataclass
class Update:
    """Pending updates for one worker."""

    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: list[bytes] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)


class PendingUpdates:
    """Pending updates for all workers, by number.

    A worker gets no update about its own discoveries.
    """

    def __init__(self, workers: int) -> None:
        self._of = [Update() for _ in range(workers)]

    def take(self, worker: int) -> Update:
        """Return the pending updates of a worker and clear them."""
        update, self._of[worker] = self._of[worker], Update()
        return update

    def cells(self, cells: dict[bytes, Worth], marks: Marks, *, by: int | None = None) -> None:
        """Announce known cells and flags."""
        for update in self._others(by):
            update.cells.update(cells)
            update.marks |= marks

    def drop(self, cells: Iterable[bytes]) -> None:
        """Announce dropped cells, to their finder, too."""
        dropped = tuple(cells)
        for update in self._of:
            update.dropped.extend(dropped)
            for cell in dropped:
                update.cells.pop(cell, None)

    def tries(self, tries: dict[bytes, int], *, by: int | None = None) -> None:
        """Announce further attempts, by proposal key."""
        for update in self._others(by):
            for key, count in tries.items():
                update.tries[key] = update.tries.get(key, 0) + count

    def crossings(self, crossings: Iterable[Crossing], *, by: int | None = None) -> None:
        """Announce room crossings."""
        found = tuple(crossings)
        for update in self._others(by):
            update.crossings.extend(found)

    def _others(self, by: int | None) -> Iterable[Update]:
        return (update for worker, update in enumerate(self._of) if worker != by)
