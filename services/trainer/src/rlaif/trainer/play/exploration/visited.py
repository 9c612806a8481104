"""Coverage by one runner's environments, and by the other runners through their files."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rlaif.trainer.play.exploration.coverage import (
    CoverageFileError,
    RunCoverage,
    episodes_in,
)
from rlaif.trainer.play.exploration.other_runners import sum_of_others


class VisitedPlaces:
    """Counts places for the environments of one runner.

    Attributes:
        own: Coverage of these environments, including earlier processes.
        elsewhere: Square → finished episodes of the other runners that visited it.
    """

    def __init__(self, file: Path, runner: int) -> None:
        """Resume with the runner's file; a missing or damaged one counts as empty."""
        self._runner = runner
        self._file = file
        try:
            self.own = RunCoverage.load(self._file)
        except (OSError, CoverageFileError):
            self.own = RunCoverage()
        self._here: Counter[int] = Counter(self.own.union().episodes)
        self.elsewhere: Counter[int] = Counter()

    def name(self, n: int) -> str:
        """Return the name of environment `n`, unique in the run."""
        return f"{self._runner}-{n}"

    def enter(self, n: int, square: int) -> None:
        self.own.of(self.name(n)).enter(square)

    def end_episode(self, n: int) -> None:
        self._here.update(self.own.of(self.name(n)).end_episode())

    def open(self, n: int) -> frozenset[int]:
        """Squares visited by the running episode of environment `n`."""
        return self.own.of(self.name(n)).open

    def reopen(self, n: int, squares: Iterable[int]) -> None:
        """Resume an episode of environment `n` that visited `squares`."""
        self.own.of(self.name(n)).reopen(squares)

    def episodes(self, square: int) -> int:
        """Return the finished episodes that visited a square, over all environments of the run."""
        return self._here[square] + self.elsewhere[square]

    def save(self) -> None:
        """Write this runner's file; takes about 10 ms."""
        self.own.save(self._file)

    def read_others(self) -> None:
        """Read the files of the other runners."""
        self.elsewhere = sum_of_others(self._file, episodes_in)
