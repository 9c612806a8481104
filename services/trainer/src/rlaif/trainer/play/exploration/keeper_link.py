"""Exchange of one runner with the archive server of its run."""

from collections.abc import Collection
from pathlib import Path

from rlaif.contracts.ids import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.home import ExplorationHome
from rlaif.trainer.play.exploration.keeper import (
    Answer,
    CountFiles,
    KeeperPort,
    Report,
    bytes_of,
    first_of,
)
from rlaif.trainer.play.exploration.states import ArchiveIdentity, ArchiveRecord
from rlaif.trainer.play.exploration.visited import VisitedPlaces


class KeeperLink:
    """For a runner whose directory no other runner uses."""

    def __init__(
        self, keeper: KeeperPort, home: ExplorationHome, identity: ArchiveIdentity, runner: int
    ) -> None:
        """Start with the counts that the server has of this runner; they are written to `home`.

        A server that does not answer is an OSError: what this runner would count from nothing
        would take the place of what was counted before.
        """
        self._keeper = keeper
        self._home = home
        self._identity = identity
        self._runner = runner
        self._common: frozenset[Sha256] = frozenset()
        self._told: frozenset[Sha256] = frozenset()
        self._refused: frozenset[Sha256] = frozenset()
        files = keeper.files_of(identity, runner)
        for path, data in zip(self._files, (files.coverage, files.cells), strict=True):
            if data is not None:
                write_whole(path, data)

    def has_news(self, archive: StateArchive) -> bool:
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
        """Report the files in `home` and merge those of the others; returns the new records.

        States in messages of `MAX_BYTES`: one each way, or with `whole` until nothing is left.
        """
        new: list[ArchiveRecord] = []
        is_more = True
        while is_more:
            report = self._report(archive)
            answer = self._keeper.exchange(self._identity, report)
            self._told |= {record.sha256 for record in report.dropped}
            visited.elsewhere, counts.elsewhere = answer.episodes, answer.seen
            if archive is None:
                break
            new += self._take(archive, answer)
            states, left = first_of(archive, answer.wanted)
            if states:
                self._keeper.take(self._identity, states)
            unsent = answer.wanted - {sent.record.sha256 for sent in states}
            self._common = archive.digests - unsent
            is_more = whole and answer.left + left > 0
        return new

    def collect(self, played_from: Collection[Sha256]) -> None:
        self._keeper.collect(self._identity, played_from)

    @property
    def _files(self) -> tuple[Path, Path]:
        return self._home.coverage(self._runner), self._home.cells(self._runner)

    def _report(self, archive: StateArchive | None) -> Report:
        counts = CountFiles(*map(bytes_of, self._files))
        if archive is None:
            return Report(self._runner, counts)
        untold = map(archive.dropped_record, sorted(archive.dropped() - self._told))
        dropped = tuple(record for record in untold if record is not None)
        return Report(self._runner, counts, archive.digests | self._refused, dropped)

    def _take(self, archive: StateArchive, answer: Answer) -> list[ArchiveRecord]:
        """Drop what others have dropped, keep what they found; gives the records that were kept.

        What loses against a state here is not asked for again: a start of the game may stand for
        another cell elsewhere, where its episode's random walk led.
        """
        for sha256 in answer.dropped:
            record = archive.get(sha256)
            if record is not None:
                archive.drop(record)
        kept = [sent.record for sent in answer.given if archive.put(sent.record, sent.packed)]
        given = frozenset(sent.record.sha256 for sent in answer.given)
        self._refused |= given - {record.sha256 for record in kept}
        return kept
