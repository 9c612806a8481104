"""States to start again from, on disk: one of each cell, named by digest, with how it was reached.

    archive.json            what all of it depends on: game, emulator, frame skip
    states/{sha256}.zst     a save state, zstd
    states/{sha256}.json    its record; the state counts once this file is there
    lineage/{sha256}.json   the record of a state that was dropped and from which others descend

Several processes share the directory. Files appear whole, by rename; what one process drops is
missed by the others and forgotten. Bounded: over `max_states` the cells go that are least worth a
start, but never the first way to a milestone.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from rlaif.contracts.ids import Sha256
from rlaif.files.whole import drop_partial, write_whole
from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.states import (
    ArchivedStateError,
    ArchiveError,
    ArchiveIdentity,
    ArchiveMismatchError,
    ArchiveRecord,
    Cell,
)

_HEADER = "archive.json"


class StateArchive:
    """The archive as one process sees it."""

    def __init__(
        self,
        directory: Path,
        identity: ArchiveIdentity,
        counts: CellCounts,
        *,
        max_states: int = 512,
    ) -> None:
        """Open the archive in a directory of its own, or begin one.

        Of `max_states`, 3 to 13 kB each on disk, what is protected may stay even over the number.

        Raises:
            ArchiveMismatchError: It was made with another game, emulator or frame skip.
            ArchiveError: Its header is not readable.
            OSError: The disk does not take a new one.
        """
        self.identity = identity
        self._directory = directory
        self._states, self._lineage = directory / "states", directory / "lineage"
        self._counts = counts
        self._max_states = max_states
        self._records: dict[Sha256, ArchiveRecord] = {}
        self._cells: dict[Cell, Sha256] = {}
        for folder in (self._states, self._lineage):
            folder.mkdir(parents=True, exist_ok=True)
            drop_partial(folder)
        self._check_header()
        self.refresh()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> tuple[ArchiveRecord, ...]:
        """Records of the states kept, by digest."""
        return tuple(self._records[sha256] for sha256 in sorted(self._records))

    @property
    def digests(self) -> frozenset[Sha256]:
        """Of the states kept."""
        return frozenset(self._records)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells to start from; the starts of the game are none of them."""
        return tuple(
            cell for cell, sha256 in self._cells.items() if self._records[sha256].parent is not None
        )

    def get(self, sha256: Sha256) -> ArchiveRecord | None:
        """The record of a state that is kept."""
        return self._records.get(sha256)

    def at(self, cell: Cell) -> ArchiveRecord | None:
        """The record that stands for a cell."""
        sha256 = self._cells.get(cell)
        return None if sha256 is None else self._records[sha256]

    def first_with(self, milestone: str) -> ArchiveRecord | None:
        """The best state that has a milestone: healthy, reached soonest."""
        found = [record for record in self._records.values() if milestone in record.milestones]
        return min(found, key=_rank, default=None)

    def put(self, record: ArchiveRecord, packed: bytes) -> bool:
        """Keep a state as `pack_keyframe` packed it; False when its cell has one as good already.

        Raises:
            ArchiveMismatchError: The record is of another game, emulator or frame skip.
            OSError: The disk does not take it; it is not kept then.
        """
        self._check_identity(record.identity, f"state {record.sha256[:12]}")
        if not self._is_wanted(record):
            return False
        write_whole(self._states / f"{record.sha256}.zst", packed)
        write_whole(
            self._states / f"{record.sha256}.json", record.model_dump_json(indent=1).encode()
        )
        self._take_in(record)
        self._shrink()
        return True

    def load(self, sha256: Sha256) -> tuple[bytes, bytes]:
        """A state and its packed form, checked against its digest.

        One that is gone or damaged is forgotten, and an `ArchivedStateError`.
        """
        try:
            packed = (self._states / f"{sha256}.zst").read_bytes()
            return unpack_keyframe(packed, sha256), packed
        except (OSError, KeyframeError) as error:
            self._retire(sha256)
            raise ArchivedStateError(
                f"archived state {sha256[:12]} cannot be used and was dropped: {error}"
            ) from error

    def refresh(self) -> tuple[ArchiveRecord, ...]:
        """Take in what other processes kept, forget what they dropped; returns the new records."""
        found = {path.stem for path in self._states.glob("[0-9a-f]*.json")}
        for sha256 in set(self._records) - found:
            self._forget(sha256)
        new = []
        for sha256 in sorted(found - set(self._records)):
            record = self._read(self._states / f"{sha256}.json")
            if record is not None and record.identity.differs_from(self.identity) is None:
                self._take_in(record)
                new.append(record)
        return tuple(record for record in new if record.sha256 in self._records)

    def dropped(self) -> frozenset[Sha256]:
        """Digests of states that were dropped, here or in an archive that reported it."""
        found = {path.stem for path in self._lineage.glob("[0-9a-f]*.json")}
        return frozenset(found - set(self._records))

    def dropped_record(self, sha256: Sha256) -> ArchiveRecord | None:
        """The record of a state that was dropped."""
        return self._read(self._lineage / f"{sha256}.json")

    def drop(self, record: ArchiveRecord) -> None:
        """Drop a state that another archive has dropped; its record stays, as part of ways.

        Raises:
            OSError: The disk does not take the record of a state that was never here.
        """
        path = self._lineage / f"{record.sha256}.json"
        if record.sha256 in self._records:
            self._retire(record.sha256)
        elif not path.exists():
            write_whole(path, record.model_dump_json(indent=1).encode())

    def lineage(self, sha256: Sha256) -> tuple[ArchiveRecord, ...]:
        """The records from a start of the game to a state; a gap is an `ArchivedStateError`."""
        chain: list[ArchiveRecord] = []
        wanted: Sha256 | None = sha256
        while wanted is not None:
            record = self._records.get(wanted) or self.dropped_record(wanted)
            if record is None:
                raise ArchivedStateError(
                    f"the way to state {sha256[:12]} is broken: no record of {wanted[:12]}"
                )
            chain.append(record)
            wanted = record.parent
        return tuple(reversed(chain))

    def collect(self, played_from: Iterable[Sha256] = ()) -> int:
        """Delete records of dropped states from which nothing descends; returns how many.

        For one process, before play begins: a state being played from is known only as one of
        `played_from`.
        """
        dropped = {path.stem: self._read(path) for path in self._lineage.glob("[0-9a-f]*.json")}
        needed: set[Sha256] = set()
        parents = [record.parent for record in self._records.values()]
        for parent in (*parents, *played_from):
            while parent is not None and parent not in needed:
                needed.add(parent)
                known = self._records.get(parent) or dropped.get(parent)
                parent = None if known is None else known.parent
        unneeded = set(dropped) - needed
        for sha256 in unneeded:
            (self._lineage / f"{sha256}.json").unlink(missing_ok=True)
        return len(unneeded)

    def protected(self) -> frozenset[Sha256]:
        """States that are never dropped: starts of the game, the best way to each milestone."""
        names = {name for record in self._records.values() for name in record.milestones}
        firsts = (self.first_with(name) for name in names)
        starts = (record for record in self._records.values() if record.parent is None)
        return frozenset(record.sha256 for record in (*firsts, *starts) if record is not None)

    def _is_wanted(self, record: ArchiveRecord) -> bool:
        """A start of the game in any case, as ways begin there; others when their cell gains."""
        known = self.at(record.cell)
        if record.parent is None or known is None:
            return True
        return known.parent is not None and record.better_than(known)

    def _take_in(self, record: ArchiveRecord) -> None:
        self._records[record.sha256] = record
        known = self._cells.get(record.cell)
        if known is None or known == record.sha256:
            self._cells[record.cell] = record.sha256
            return
        other = self._records[known]
        better = record if _rank(record) < _rank(other) else other
        worse = other if better is record else record
        self._cells[record.cell] = better.sha256
        if worse.parent is not None:
            self._retire(worse.sha256)

    def _shrink(self) -> None:
        excess = len(self._records) - self._max_states
        if excess <= 0:
            return
        kept = self.protected()
        loose = [record for record in self._records.values() if record.sha256 not in kept]
        loose.sort(key=lambda r: (self._counts.weight(r.cell), -r.steps, r.sha256))
        for record in loose[:excess]:
            self._retire(record.sha256)

    def _retire(self, sha256: Sha256) -> None:
        """Drop a state; its record moves to the lineage. Another process may have done it.

        One that the disk does not let go of is forgotten here, and found again by `refresh`.
        """
        record = self._states / f"{sha256}.json"
        with contextlib.suppress(OSError):
            if record.exists():
                record.replace(self._lineage / record.name)
            (self._states / f"{sha256}.zst").unlink(missing_ok=True)
        self._forget(sha256)

    def _forget(self, sha256: Sha256) -> None:
        record = self._records.pop(sha256, None)
        if record is not None and self._cells.get(record.cell) == sha256:
            del self._cells[record.cell]

    def _read(self, path: Path) -> ArchiveRecord | None:
        try:
            record = ArchiveRecord.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None
        return record if record.sha256 == path.stem else None

    def _check_header(self) -> None:
        path = self._directory / _HEADER
        if not path.exists():
            write_whole(path, self.identity.model_dump_json(indent=1).encode())
            return
        try:
            found = ArchiveIdentity.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise ArchiveError(
                f"{path} is not the header of an archive of states: delete {self._directory} to "
                "begin a new one"
            ) from error
        self._check_identity(found, f"the archive {self._directory}")

    def _check_identity(self, found: ArchiveIdentity, what: str) -> None:
        difference = found.differs_from(self.identity)
        if difference is not None:
            raise ArchiveMismatchError(
                f"{what} was made with {difference}: its states would not load or would play "
                "another game. Start a new run, or delete the archive."
            )


def _rank(record: ArchiveRecord) -> tuple[bool, int, str]:
    return not record.healthy, record.steps, record.sha256


def milestones_of(records: Iterable[ArchiveRecord]) -> tuple[str, ...]:
    """All milestones that some of the records have, sorted."""
    return tuple(sorted({name for record in records for name in record.milestones}))
