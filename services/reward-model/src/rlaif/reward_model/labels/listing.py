"""A listing of very many objects, taken a piece at a time, so that no look at the store is long.

Servers list a thousand keys a request, some 50 ms with their parsing. A round over all keys goes on
over as many looks as it takes.
"""

from collections.abc import Iterator
from itertools import islice

from rlaif.storage.ports import ObjectInfo, ObjectStore


class Listing:
    """Rounds over the objects of one prefix."""

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._prefix = prefix
        self._round: Iterator[ObjectInfo] | None = None
        self._due = False

    def begin(self) -> None:
        """Ask for a round; one that is under way goes on."""
        self._due = self._round is None

    def take(self, most: int | None) -> list[ObjectInfo]:
        """The next `most` objects of the round, or all that are left; none when no round is due.

        After a `StoreUnavailableError` the next call begins the round again.
        """
        if self._round is None and not self._due:
            return []
        going = self._round or self._store.scan(self._prefix)
        self._round, self._due = None, True
        found = list(islice(going, most))
        if most is not None and len(found) == most:
            self._round = going
        self._due = False
        return found
