"""Coverage of one runner's environments, and of the other runners by their files."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rlaif.trainer.play.exploration.coverage import (
    CoverageFileError,
    RunCoverage,
    episodes_in,
)
from rlaif.trainer.play.exploration.others import sum_of_others


class VisitedPlaces:
    """Counts places for the environments of one runner.

    Attributes:
        own: Coverage of these environments, this process's and earlier ones'.
        elsewhere: Square → finished episodes of the other runners that visited it.
    """

    def __init__(self, file: Path, runner: int) -> None:
        """Resume with the runner's file; a missing or damaged one counts as none."""
        self._runner = runner
        self._file = file
        try:
            self.own = RunCoverage.load(self._file)
        except (OSError, CoverageFileError):
            self.own = RunCoverage()
        self._here: Counter[int] = Counter(self.own.union().episodes)
        self.elsewhere: Counter[int] = Counter()

    def name(self, n: int) -> str:
        """Of environment `n`, unique in the run."""
        return f"{self._runner}-{n}"

    def enter(self, n: int, square: int) -> None:
        """Environment `n` came to a square."""
        self.own.of(self.name(n)).enter(square)

    def end_episode(self, n: int) -> None:
        """The episode of environment `n` is over."""
        self._here.update(self.own.of(self.name(n)).end_episode())

    def open(self, n: int) -> frozenset[int]:
        """Squares that the running episode of environment `n` visited."""
        return self.own.of(self.name(n)).open

    def reopen(self, n: int, squares: Iterable[int]) -> None:
        """Resume an episode of environment `n` that visited `squares`."""
        self.own.of(self.name(n)).reopen(squares)

    def episodes(self, square: int) -> int:
        """Finished episodes that visited a square, over all environments of the run."""
        return self._here[square] + self.elsewhere[square]

    def save(self) -> None:
        """Write this runner's file; about 10 ms."""
        self.own.save(self._file)

    def read_others(self) -> None:
        """Read what the other runners wrote beside it."""
        self.elsewhere = sum_of_others(self._file, episodes_in)
