"""Serves the run's exploration data to runners that do not share the run's directory.

    runner on another machine                     archive server
      Report: its counts, its states ────────────────▶ writes the counts, forgets dropped states
      ◀─── Answer: others' counts, states that it lacks, states that the server lacks
      the latter ────────────────────────────────────▶ put into the archive

Both inventories are compared in every exchange, so lost messages and machines need no recovery. A
state that one archive drops is dropped by the others.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rlaif.contracts.model import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts, seen_in
from rlaif.trainer.play.exploration.coverage import episodes_in
from rlaif.trainer.play.exploration.exploration_folder import ExplorationFolder
from rlaif.trainer.play.exploration.other_runners import CachedReader, sum_of_others
from rlaif.trainer.play.exploration.states import (
    ArchivedStateError,
    ArchiveIdentity,
    ArchiveRecord,
    Cell,
)
from rlaif.trainer.settings.game import ExploreSettings

MAX_BYTES = 4 << 20
"""Limit of states per message in each direction; the rest is sent with the next one."""


@dataclass(frozen=True)
class CountFiles:
    """Contents of one runner's count files; None for a missing file."""

    coverage: bytes | None
    cells: bytes | None


@dataclass(frozen=True)
class Report:
    """The inventory of a runner.

    Attributes:
        states: Digests of all states in its archive.
        dropped: Records of dropped states that it has not reported yet.
    """

    runner: int
    counts: CountFiles
    states: frozenset[Sha256] = frozenset()
    dropped: tuple[ArchiveRecord, ...] = ()


@dataclass(frozen=True)
class SentState:
    """A state in a message, as packed by `pack_keyframe`."""

    record: ArchiveRecord
    packed: bytes


@dataclass(frozen=True)
class Answer:
    """Reply of the archive server to a report.

    Attributes:
        episodes: Square → finished episodes of the other runners that visited it.
        seen: Cell → number of visits by the other runners.
        given: States that the runner lacks, at max_states `MAX_BYTES`.
        left: Number of those that did not fit.
        wanted: Digests of states that the server lacks.
        dropped: Digests of states that others have dropped.
    """

    episodes: Counter[int]
    seen: Counter[Cell]
    given: tuple[SentState, ...] = ()
    left: int = 0
    wanted: frozenset[Sha256] = frozenset()
    dropped: frozenset[Sha256] = frozenset()


class ArchiveServerPort(Protocol):
    """The archive server, local or remote. A missing answer is an OSError."""

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles: ...

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer: ...

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None: ...

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None: ...


@dataclass(frozen=True)
class _Store:
    """Data of one identity; without an archive if no episode starts at a state."""

    folder: ExplorationFolder
    counts: CellCounts
    archive: StateArchive | None


class ArchiveServer:
    """Stores the reports of runners in a run's directory, as if they had written there."""

    def __init__(self, directory: Path, settings: ExploreSettings) -> None:
        """Serve `directory` of a run; `settings` are those of its runners."""
        self._directory = directory
        self._settings = settings
        self._stores: dict[str, _Store] = {}
        self._episodes, self._seen = CachedReader(episodes_in), CachedReader(seen_in)

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        """Return the counts with which a runner resumes: those that it reported last."""
        folder = ExplorationFolder.of(self._directory, identity)
        return CountFiles(bytes_of(folder.coverage(runner)), bytes_of(folder.cells(runner)))

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        """Merge a runner's report; return the others' data and what each side lacks."""
        store = self._store(identity)
        coverage, cells = store.folder.coverage(report.runner), store.folder.cells(report.runner)
        if report.counts.coverage is not None:
            write_whole(coverage, report.counts.coverage)
        if report.counts.cells is not None:
            write_whole(cells, report.counts.cells)
        episodes = sum_of_others(coverage, self._episodes)
        seen = sum_of_others(cells, self._seen)
        if store.archive is None:
            return Answer(episodes, seen)
        archive = self._refreshed(store)
        for record in report.dropped:
            archive.drop(record)
        dropped, mine = archive.dropped(), archive.digests
        given, left = first_of(archive, mine - report.states)
        return Answer(
            episodes,
            seen,
            given,
            left,
            wanted=report.states - mine - dropped,
            dropped=report.states & dropped,
        )

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None:
        """Put states into the archive.

        A state that is not better than its cell's counts as dropped.
        """
        archive = self._store(identity).archive
        if archive is None:
            return
        for sent in states:
            if not archive.put(sent.record, sent.packed):
                archive.drop(sent.record)

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None:
        archive = self._store(identity).archive
        if archive is not None:
            archive.collect(played_from)

    def _store(self, identity: ArchiveIdentity) -> _Store:
        if identity.folder not in self._stores:
            folder, counts = ExplorationFolder.of(self._directory, identity), CellCounts()
            archive = None
            if self._settings.keeps_states:
                max_states = self._settings.states
                archive = StateArchive(folder.archive, identity, counts, max_states=max_states)
            self._stores[identity.folder] = _Store(folder, counts, archive)
        return self._stores[identity.folder]

    def _refreshed(self, store: _Store) -> StateArchive:
        """Refresh the archive and the counts of all runners."""
        assert store.archive is not None
        store.counts.elsewhere = sum_of_others(store.folder.cells(_NO_RUNNER), self._seen)
        store.archive.refresh()
        return store.archive


_NO_RUNNER = -1
"""The number of no runner, so that all runners count as others."""


def bytes_of(path: Path) -> bytes | None:
    """Return the contents of a file, or None if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def first_of(archive: StateArchive, digests: Iterable[Sha256]) -> tuple[tuple[SentState, ...], int]:
    """Return the states to send, parents first, at most `MAX_BYTES`; and the number of the rest.

    A state above this size is sent alone. Damaged ones are dropped.
    """
    found = (archive.get(sha256) for sha256 in digests)
    ordered = sorted((r for r in found if r is not None), key=lambda r: (r.steps, r.sha256))
    sent: list[SentState] = []
    room = MAX_BYTES
    for index, record in enumerate(ordered):
        try:
            packed = archive.load(record.sha256)[1]
        except ArchivedStateError:
            continue
        room -= len(packed) + len(record.actions)
        if room < 0 and sent:
            return tuple(sent), len(ordered) - index
        sent.append(SentState(record, packed))
    return tuple(sent), 0
