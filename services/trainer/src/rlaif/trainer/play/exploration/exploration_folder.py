"""File layout of one identity's exploration data in a run's directory."""

from dataclasses import dataclass
from pathlib import Path

from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR


@dataclass(frozen=True)
class ExplorationFolder:
    """Paths of one game, emulator and frame skip: a shared archive, and count files per runner."""

    directory: Path

    @classmethod
    def of(cls, run_directory: Path, identity: ArchiveIdentity) -> "ExplorationFolder":
        return cls(run_directory / EXPLORATION_DIR / identity.folder)

    @property
    def archive(self) -> Path:
        """Directory of the `StateArchive`."""
        return self.directory / "archive"

    def coverage(self, runner: int) -> Path:
        """File of a runner's `RunCoverage`."""
        return self.directory / "coverage" / f"runner-{runner}.npz"

    def cells(self, runner: int) -> Path:
        """File of a runner's `CellCounts`."""
        return self.directory / "cells" / f"runner-{runner}.json"
