"""The archive of states on disk: one state per cell, named by digest, with its trajectory.

    archive.json            identity of all states: game, emulator, frame skip
    states/{sha256}.zst     a save state, zstd
    states/{sha256}.json    its record; the state counts once this file exists
    lineage/{sha256}.json   the record of a dropped state from which others descend

Several processes share the directory. Files are written atomically, by rename; a process that
misses a state dropped by another one forgets it. The size is bounded: above `max_states`, the cells
with the lowest weight are dropped, but never the first trajectory to a milestone.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from rlaif.contracts.model import Sha256
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
    """The archive, as seen by one process."""

    def __init__(
        self,
        directory: Path,
        identity: ArchiveIdentity,
        counts: CellCounts,
        *,
        max_states: int = 512,
    ) -> None:
        """Open or create the archive in a directory of its own.

        A state takes 3 to 13 kB on disk. Protected states may exceed `max_states`.

        Raises:
            ArchiveMismatchError: It belongs to another game, emulator or frame skip.
            ArchiveError: Its header is not readable.
            OSError: A new archive cannot be written.
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
        """Records of the states, by digest."""
        return tuple(self._records[sha256] for sha256 in sorted(self._records))

    @property
    def digests(self) -> frozenset[Sha256]:
        return frozenset(self._records)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells from which to start, without those of the game's own starts."""
        return tuple(
            cell for cell, sha256 in self._cells.items() if self._records[sha256].parent is not None
        )

    def get(self, sha256: Sha256) -> ArchiveRecord | None:
        return self._records.get(sha256)

    def at(self, cell: Cell) -> ArchiveRecord | None:
        """Return the record of a cell's state."""
        sha256 = self._cells.get(cell)
        return None if sha256 is None else self._records[sha256]

    def first_with(self, milestone: str) -> ArchiveRecord | None:
        """Return the best state with a milestone: healthy, then with the fewest steps."""
        found = [record for record in self._records.values() if milestone in record.milestones]
        return min(found, key=_rank, default=None)

    def put(self, record: ArchiveRecord, packed: bytes) -> bool:
        """Store a packed state (`pack_keyframe`); False if its cell has an equally good one.

        Raises:
            ArchiveMismatchError: The record is of another game, emulator or frame skip.
            OSError: It cannot be written, and is not stored.
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
        """Return a state and its packed form, verified by its digest.

        A missing or damaged state is forgotten, and raises an `ArchivedStateError`.
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
        """Merge the changes of other processes; return the new records."""
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
        """Return the digests of dropped states, including those of archives that reported them."""
        found = {path.stem for path in self._lineage.glob("[0-9a-f]*.json")}
        return frozenset(found - set(self._records))

    def dropped_record(self, sha256: Sha256) -> ArchiveRecord | None:
        """Return the record of a dropped state."""
        return self._read(self._lineage / f"{sha256}.json")

    def drop(self, record: ArchiveRecord) -> None:
        """Drop a state that another archive has dropped; its record remains for trajectories.

        Raises:
            OSError: The record of a state that was never here cannot be written.
        """
        path = self._lineage / f"{record.sha256}.json"
        if record.sha256 in self._records:
            self._retire(record.sha256)
        elif not path.exists():
            write_whole(path, record.model_dump_json(indent=1).encode())

    def lineage(self, sha256: Sha256) -> tuple[ArchiveRecord, ...]:
        """Return the records from a start of the game to a state; ArchivedStateError at a gap."""
        chain: list[ArchiveRecord] = []
        wanted: Sha256 | None = sha256
        while wanted is not None:
            record = self._records.get(wanted) or self.dropped_record(wanted)
            if record is None:
                raise ArchivedStateError(
                    f"the trajectory to state {sha256[:12]} is broken: no record of {wanted[:12]}"
                )
            chain.append(record)
            wanted = record.parent
        return tuple(reversed(chain))

    def collect(self, played_from: Iterable[Sha256] = ()) -> int:
        """Delete the records of dropped states without descendants; return their number.

        Must be called by one process, before play begins: states from which running episodes
        started are known only by `played_from`.
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
        """Return the states that are never dropped: starts of the game, the best per milestone."""
        names = {name for record in self._records.values() for name in record.milestones}
        firsts = (self.first_with(name) for name in names)
        starts = (record for record in self._records.values() if record.parent is None)
        return frozenset(record.sha256 for record in (*firsts, *starts) if record is not None)

    def _is_wanted(self, record: ArchiveRecord) -> bool:
        """Whether to store it: always for starts of the game, else if it improves its cell."""
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
        """Drop a state and move its record to the lineage, unless another process has done so.

        If the disk fails, the state is forgotten here and found again by `refresh`.
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
                f"{path} is not the header of a state archive: delete {self._directory} to "
                "start a new one"
            ) from error
        self._check_identity(found, f"the archive {self._directory}")

    def _check_identity(self, found: ArchiveIdentity, what: str) -> None:
        difference = found.differs_from(self.identity)
        if difference is not None:
            raise ArchiveMismatchError(
                f"{what} was created with {difference}: its states would not load or would play "
                "another game. Start a new run, or delete the archive."
            )


def _rank(record: ArchiveRecord) -> tuple[bool, int, str]:
    return not record.healthy, record.steps, record.sha256


def milestones_of(records: Iterable[ArchiveRecord]) -> tuple[str, ...]:
    """Return all milestones of the records, sorted."""
    return tuple(sorted({name for record in records for name in record.milestones}))
