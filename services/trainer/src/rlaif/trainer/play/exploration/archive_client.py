"""Exchange of one runner with the archive server of its run."""

from collections.abc import Collection
from pathlib import Path

from rlaif.contracts.model import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.archive_server import (
    Answer,
    ArchiveServerPort,
    CountFiles,
    Report,
    bytes_of,
    first_of,
)
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.exploration_folder import ExplorationFolder
from rlaif.trainer.play.exploration.states import ArchiveIdentity, ArchiveRecord
from rlaif.trainer.play.exploration.visited import VisitedPlaces


class ArchiveClient:
    """Client for a runner whose directory is not shared."""

    def __init__(
        self,
        archive_server: ArchiveServerPort,
        folder: ExplorationFolder,
        identity: ArchiveIdentity,
        runner: int,
    ) -> None:
        """Write the server's counts of this runner to `folder`.

        A server that does not answer is an OSError, because a runner that counted from zero would
        overwrite the earlier counts.
        """
        self._server = archive_server
        self._folder = folder
        self._identity = identity
        self._runner = runner
        self._common: frozenset[Sha256] = frozenset()
        self._reported: frozenset[Sha256] = frozenset()
        self._rejected: frozenset[Sha256] = frozenset()
        files = archive_server.files_of(identity, runner)
        for path, data in zip(self._files, (files.coverage, files.cells), strict=True):
            if data is not None:
                write_whole(path, data)

    def has_unsent(self, archive: StateArchive) -> bool:
        """Whether there are states that the server has not received."""
        return not archive.digests <= self._common

    def exchange(
        self,
        visited: VisitedPlaces,
        counts: CellCounts,
        archive: StateArchive | None,
        *,
        whole: bool = False,
    ) -> list[ArchiveRecord]:
        """Report the files in `folder` and merge those of the others; return the new records.

        A message contains at most `MAX_BYTES` of states: one exchange, or with `whole` as many as
        are necessary.
        """
        new: list[ArchiveRecord] = []
        is_more = True
        while is_more:
            report = self._report(archive)
            answer = self._server.exchange(self._identity, report)
            self._reported |= {record.sha256 for record in report.dropped}
            visited.elsewhere, counts.elsewhere = answer.episodes, answer.seen
            if archive is None:
                break
            new += self._take(archive, answer)
            states, left = first_of(archive, answer.wanted)
            if states:
                self._server.take(self._identity, states)
            unsent = answer.wanted - {sent.record.sha256 for sent in states}
            self._common = archive.digests - unsent
            is_more = whole and answer.left + left > 0
        return new

    def collect(self, played_from: Collection[Sha256]) -> None:
        self._server.collect(self._identity, played_from)

    @property
    def _files(self) -> tuple[Path, Path]:
        return self._folder.coverage(self._runner), self._folder.cells(self._runner)

    def _report(self, archive: StateArchive | None) -> Report:
        counts = CountFiles(*map(bytes_of, self._files))
        if archive is None:
            return Report(self._runner, counts)
        unreported = map(archive.dropped_record, sorted(archive.dropped() - self._reported))
        dropped = tuple(record for record in unreported if record is not None)
        return Report(self._runner, counts, archive.digests | self._rejected, dropped)

    def _take(self, archive: StateArchive, answer: Answer) -> list[ArchiveRecord]:
        """Drop what others have dropped, store what they found; return the stored records.

        A rejected state is not requested again: a start of the game may represent another cell
        elsewhere, depending on the episode's random walk.
        """
        for sha256 in answer.dropped:
            record = archive.get(sha256)
            if record is not None:
                archive.drop(record)
        kept = [sent.record for sent in answer.given if archive.put(sent.record, sent.packed)]
        given = frozenset(sent.record.sha256 for sent in answer.given)
        self._rejected |= given - {record.sha256 for record in kept}
        return kept
