"""Starts a run's runners, which are built while this process imports torch and RLlib."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlaif.trainer.curriculum import library
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.pool import RunnerPool
from rlaif.trainer.learner.runners.runner import RunnerConfig
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER
from rlaif.trainer.settings import TrainerSettings

POWER_ON_SHARE = 0.5
"""Share of play from power-on if the curriculum is built while the run explores."""


@dataclass(frozen=True)
class Start:
    """Initial state of the training loop.

    Attributes:
        found: The checkpoint to resume from, and the reasons why newer ones are skipped.
        files: File server for runners on other machines; ends with its last reference.
    """

    config: RunnerConfig
    runners: RunnerPool
    found: tuple[Path, list[str]] | None
    files: Any = None


def start_runners(run: RunContext) -> Start:
    """Start the runners of a run, on the Ray cluster if the settings specify one."""
    settings, on_cluster = run.settings, run.settings.joins_cluster
    evaluates = settings.mode == "evaluation"
    found = None if evaluates else checkpoints.newest_usable(run.checkpoints)
    files = files_of(run)
    # An evaluation does not begin training episodes.
    resumes = evaluates or found is not None
    name = "" if files is None else files.name
    settings = with_curriculum(settings, run.directory)
    config = runner_config(
        settings, run.environments(), files=name, exploring=settings.exploring, resumes=resumes
    )
    runners = open_runners(config, settings.ray_workers, on_cluster=on_cluster)
    return Start(config, runners, found, files)


def with_curriculum(settings: TrainerSettings, directory: Path) -> TrainerSettings:
    """Return the settings with the curriculum that the run has built so far, if any."""
    if settings.curriculum.path is not None or not settings.exploring:
        return settings
    folder: Path | None = directory / DEMONSTRATIONS_FOLDER
    try:
        library.read(directory / DEMONSTRATIONS_FOLDER, library.identity_of(settings.game))
    except library.DemonstrationsError:
        folder = None
    curriculum = settings.curriculum.model_copy(update={"path": folder, "power_on": POWER_ON_SHARE})
    return settings.model_copy(update={"curriculum": curriculum})


def files_of(run: RunContext) -> Any:
    """Start the file server for runners on other machines; None if all are on this one."""
    if not (run.settings.joins_cluster and run.settings.ray_workers):
        return None
    from rlaif.trainer.learner.runners.driver_files import RunningDriverFiles

    return RunningDriverFiles.start(run.directory)
