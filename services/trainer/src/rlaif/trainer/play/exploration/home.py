"""Where in a run's directory lies what was found with one game, emulator and frame skip."""

from dataclasses import dataclass
from pathlib import Path

from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR


@dataclass(frozen=True)
class ExplorationHome:
    """The folder of one identity: an archive for all runners, and counts in a file of each."""

    directory: Path

    @classmethod
    def of(cls, run_directory: Path, identity: ArchiveIdentity) -> "ExplorationHome":
        """The folder in a run's directory."""
        return cls(run_directory / EXPLORATION_DIR / identity.folder)

    @property
    def archive(self) -> Path:
        """A `StateArchive`."""
        return self.directory / "archive"

    def coverage(self, runner: int) -> Path:
        """Places that the environments of a runner visited: a `RunCoverage`."""
        return self.directory / "coverage" / f"runner-{runner}.npz"

    def cells(self, runner: int) -> Path:
        """`CellCounts` of a runner."""
        return self.directory / "cells" / f"runner-{runner}.json"
