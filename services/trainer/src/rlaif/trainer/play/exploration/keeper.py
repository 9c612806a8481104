"""The run's exploration, kept where the run's directory is, for runners that do not see it.

    runner on another machine                     archive server
      Report: its counts, which states it has ───────▶ writes the counts, forgets what was dropped
      ◀─── Answer: the others' counts, states that it lacks, states that the server lacks
      those ─────────────────────────────────────────▶ put into the archive

What the two hold is compared each time, so that a lost message or machine leaves nothing to repair.
A state that one archive drops is dropped by the others.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rlaif.contracts.ids import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts, seen_in
from rlaif.trainer.play.exploration.coverage import episodes_in
from rlaif.trainer.play.exploration.home import ExplorationHome
from rlaif.trainer.play.exploration.others import ReadOnce, sum_of_others
from rlaif.trainer.play.exploration.states import (
    ArchivedStateError,
    ArchiveIdentity,
    ArchiveRecord,
    Cell,
)
from rlaif.trainer.settings.exploration import ExploreSettings

MAX_BYTES = 4 << 20
"""Of states in one message, either way; what is over goes with the next one."""


@dataclass(frozen=True)
class CountFiles:
    """The files of one runner's counts, as bytes; None for one that is not there."""

    coverage: bytes | None
    cells: bytes | None


@dataclass(frozen=True)
class Report:
    """What a runner has.

    Attributes:
        states: Digests of all states in its archive.
        dropped: Records of the states that it dropped and has not reported yet.
    """

    runner: int
    counts: CountFiles
    states: frozenset[Sha256] = frozenset()
    dropped: tuple[ArchiveRecord, ...] = ()


@dataclass(frozen=True)
class SentState:
    """A state on its way from one archive to another, as `pack_keyframe` packed it."""

    record: ArchiveRecord
    packed: bytes


@dataclass(frozen=True)
class Answer:
    """Reply of the archive server to a report.

    Attributes:
        episodes: Square → finished episodes of the other runners that visited it.
        seen: Cell → times that the play of the other runners came to it.
        given: States that the runner lacks, at most `MAX_BYTES`.
        left: Those that did not fit.
        wanted: Digests of states that the server lacks.
        dropped: Digests of states that others have dropped.
    """

    episodes: Counter[int]
    seen: Counter[Cell]
    given: tuple[SentState, ...] = ()
    left: int = 0
    wanted: frozenset[Sha256] = frozenset()
    dropped: frozenset[Sha256] = frozenset()


class KeeperPort(Protocol):
    """The archive server, local or remote. A missing answer is an OSError."""

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        """See `Keeper`."""
        ...

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        """See `Keeper`."""
        ...

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None:
        """See `Keeper`."""
        ...

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None:
        """See `Keeper`."""
        ...


@dataclass(frozen=True)
class _Shelf:
    """What is kept of one identity; without an archive when no episode starts at a state."""

    home: ExplorationHome
    counts: CellCounts
    archive: StateArchive | None


class Keeper:
    """Keeps what runners report in a run's directory, as if they had written it there."""

    def __init__(self, directory: Path, settings: ExploreSettings) -> None:
        """Keep in `directory`, a run's; `settings` are those of its runners."""
        self._directory = directory
        self._settings = settings
        self._shelves: dict[str, _Shelf] = {}
        self._episodes, self._seen = ReadOnce(episodes_in), ReadOnce(seen_in)

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        """Counts with which a runner resumes: those that it reported last."""
        home = ExplorationHome.of(self._directory, identity)
        return CountFiles(bytes_of(home.coverage(runner)), bytes_of(home.cells(runner)))

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        """Take in what a runner has; says what the others have, and what is missing where."""
        shelf = self._shelf(identity)
        coverage, cells = shelf.home.coverage(report.runner), shelf.home.cells(report.runner)
        if report.counts.coverage is not None:
            write_whole(coverage, report.counts.coverage)
        if report.counts.cells is not None:
            write_whole(cells, report.counts.cells)
        episodes = sum_of_others(coverage, self._episodes)
        seen = sum_of_others(cells, self._seen)
        if shelf.archive is None:
            return Answer(episodes, seen)
        archive = self._refreshed(shelf)
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
        """Put states into the archive. One that loses against another is as good as dropped."""
        archive = self._shelf(identity).archive
        if archive is None:
            return
        for sent in states:
            if not archive.put(sent.record, sent.packed):
                archive.drop(sent.record)

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None:
        """See `StateArchive.collect`."""
        archive = self._shelf(identity).archive
        if archive is not None:
            archive.collect(played_from)

    def _shelf(self, identity: ArchiveIdentity) -> _Shelf:
        if identity.folder not in self._shelves:
            home, counts = ExplorationHome.of(self._directory, identity), CellCounts()
            archive = None
            if self._settings.keeps_states:
                most = self._settings.states
                archive = StateArchive(home.archive, identity, counts, max_states=most)
            self._shelves[identity.folder] = _Shelf(home, counts, archive)
        return self._shelves[identity.folder]

    def _refreshed(self, shelf: _Shelf) -> StateArchive:
        """Refresh the archive and the counts of all runners on this machine."""
        assert shelf.archive is not None
        shelf.counts.elsewhere = sum_of_others(shelf.home.cells(_NOBODY), self._seen)
        shelf.archive.refresh()
        return shelf.archive


_NOBODY = -1
"""Is no runner: all of them are others."""


def bytes_of(path: Path) -> bytes | None:
    """What a file holds; None when it is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def first_of(archive: StateArchive, digests: Iterable[Sha256]) -> tuple[tuple[SentState, ...], int]:
    """States to send, what a way begins with first, at most `MAX_BYTES`; and how many are left.

    A state larger than that goes alone. One that is damaged is dropped.
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
