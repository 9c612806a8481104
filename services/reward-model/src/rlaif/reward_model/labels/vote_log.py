"""The log of what people said of pairs: objects that are written once, in one order.

The next number is the object that nobody wrote yet, so two writers never make one line, and no line
is ever changed. What is kept in memory is made of the objects again after every start.
"""

import logging
import threading
from collections.abc import Callable

from pydantic import ValidationError

from rlaif.contracts.votes import VoteRecord
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError

logger = logging.getLogger(__name__)

_TRIES = 64
"""Other writers that may take a number first; there is one, while an old process ends."""


class VoteLog:
    """Appends to the log in `store`, the models' bucket, and reads it. Calls block.

    May be used by several threads.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._records: list[VoteRecord] = []
        self._last = 0
        self.unreadable = 0
        """Lines that are no record of a version known here; they are left alone."""

    @property
    def records(self) -> tuple[VoteRecord, ...]:
        """What is known of the log, oldest first."""
        with self._lock:
            return tuple(self._records)

    def read_new(self) -> None:
        """Read the lines that came since the last look; after an error the next call goes on."""
        with self._lock:
            self._read_new()

    def append(self, line: Callable[[int, tuple[VoteRecord, ...]], VoteRecord]) -> VoteRecord:
        """Write the record that `line` makes of its number and of all lines before it.

        A record whose number is not the given one is an old line: nothing is written.
        """
        with self._lock:
            for _ in range(_TRIES):
                self._read_new()
                number = self._last + 1
                record = line(number, tuple(self._records))
                if record.number != number:
                    return record
                data = record.model_dump_json().encode()
                if self._store.put_once(keys.vote(number), data, content_type="application/json"):
                    self._last = number
                    self._records.append(record)
                    return record
        raise StoreUnavailableError(f"{_TRIES} lines of others came first; send the vote again")

    def _read_new(self) -> None:
        for info in self._store.list(keys.VOTES, after=keys.vote(self._last)):
            number = keys.vote_number(info.key)
            if number is None:
                continue
            try:
                record = VoteRecord.model_validate_json(self._store.get(info.key))
            except ObjectNotFoundError:
                continue  # deleted since; its number stays taken
            except ValidationError as error:
                self.unreadable += 1
                logger.warning("%s is no vote: %s", info.key, error)
            else:
                self._records.append(record)
            self._last = number
