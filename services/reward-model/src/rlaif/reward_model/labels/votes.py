"""Votes of people on pairs of segments: their log, and their effect on the labels.

A person's vote on a pair replaces the judges' answer. People vote independently, so their log-odds
are added: agreement of two adds certainty, disagreement leaves the pair undecided.

The log consists of objects that are written once under consecutive numbers, so two writers never
write the same line and no line changes.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.storage import keys
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StoreUnavailableError,
)

logger = logging.getLogger(__name__)

RIGHT = 0.85
"""P(A better) when one person prefers A. Two people with the same clips agree on about three of
four pairs; two who are right with 0.85 agree on 0.75."""

_MAX_LEAN = 2.0
"""More than two people add no certainty: they saw the same two clips."""

_ATTEMPTS = 64
"""Attempts to append a line while other writers take its number first."""


class VoteLog:
    """Appends to and reads the log in `store`, the bucket of models. Thread-safe; calls block."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._records: list[VoteRecord] = []
        self._last = 0
        self.unreadable = 0
        """Lines that cannot be parsed; they are left alone."""

    @property
    def records(self) -> tuple[VoteRecord, ...]:
        with self._lock:
            return tuple(self._records)

    def read_new(self) -> None:
        """Read new lines; after an error the next call resumes."""
        with self._lock:
            self._read_new()

    def append(self, line: Callable[[int, tuple[VoteRecord, ...]], VoteRecord]) -> VoteRecord:
        """Append the record that `line` returns for its number and all earlier lines.

        A record with another number is an existing line: nothing is written.
        """
        with self._lock:
            for _ in range(_ATTEMPTS):
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
        raise StoreUnavailableError(f"{_ATTEMPTS} other lines were written first; vote again")

    def _read_new(self) -> None:
        for info in self._store.list(keys.VOTES, after=keys.vote(self._last)):
            number = keys.vote_number(info.key)
            if number is None:
                continue
            try:
                record = VoteRecord.model_validate_json(self._store.get(info.key))
            except ObjectNotFoundError:
                continue  # deleted since; its number is not reused
            except (ValidationError, ObjectCorruptError) as error:
                self.unreadable += 1
                logger.warning("%s is not a vote: %s", info.key, error)
            else:
                self._records.append(record)
            self._last = number


def valid_votes(records: Iterable[VoteRecord]) -> list[VoteRecord]:
    """Of each person and pair the last vote that was not withdrawn, oldest first."""
    lines = list(records)
    undone = {line.undoes for line in lines if line.kind == "undo"}
    last: dict[tuple[str, tuple[str, str]], VoteRecord] = {}
    for line in lines:
        if line.kind == "vote" and line.number not in undone:
            last[line.actor, line.pair] = line
    return sorted(last.values(), key=lambda line: line.number)


def leans(votes: Iterable[VoteRecord]) -> dict[tuple[str, str], float]:
    """Pair → number of people who preferred its first segment minus those who preferred its second.

    "Equal" counts for neither; a pair that was only skipped has no entry.
    """
    found: dict[tuple[str, str], float] = {}
    for vote in votes:
        if vote.choice is None or vote.choice == "skip":
            continue
        first = vote.pair[0] == vote.a
        lean = {"a": 1.0, "b": -1.0, "equal": 0.0}[vote.choice] * (1 if first else -1)
        found[vote.pair] = found.get(vote.pair, 0.0) + lean
    return found


def with_votes(
    labels: Sequence[LabelledSegment], votes: Iterable[VoteRecord]
) -> list[LabelledSegment]:
    """The labels with the valid votes on pairs of them."""
    known = {item.segment_id for item in labels}
    voted: dict[str, dict[str, float]] = {}
    for (first, second), lean in leans(votes).items():
        if first in known and second in known:
            voted.setdefault(first, {})[second] = lean
            voted.setdefault(second, {})[first] = -lean
    return [
        replace(item, voted=voted[item.segment_id]) if item.segment_id in voted else item
        for item in labels
    ]


def log_odds(lean: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` log-odds that A is better."""
    bounded = np.clip(lean, -_MAX_LEAN, _MAX_LEAN)
    found: NDArray[np.float64] = bounded * np.log(RIGHT / (1.0 - RIGHT))
    return found
