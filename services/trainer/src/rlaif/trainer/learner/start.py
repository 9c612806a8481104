"""The start of a run's runners, which are built while this process imports torch and RLlib."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.pool import RunnerPool
from rlaif.trainer.learner.runners.runner import RunnerConfig
from rlaif.trainer.run_folder import checkpoints


@dataclass(frozen=True)
class Start:
    """What training begins with.

    Attributes:
        found: The checkpoint to resume from, and why newer ones were passed over.
        archive_server: For runners on other machines; ends with its last reference.
    """

    config: RunnerConfig
    runners: RunnerPool
    found: tuple[Path, list[str]] | None
    archive_server: Any = None


def start_runners(run: RunContext) -> Start:
    """Start the runners of a run, on the Ray cluster if the settings name one."""
    settings, on_cluster = run.settings, run.settings.joins_cluster
    evaluates = settings.mode == "evaluation"
    found = None if evaluates else checkpoints.newest_usable(run.checkpoints)
    archive_server = files_of(run)
    explore = run.exploration() if archive_server is None else archive_server.config
    # An evaluation begins no episode of training.
    resumes = evaluates or found is not None
    config = runner_config(settings, run.environments(), explore, resumes=resumes)
    runners = open_runners(config, settings.ray_workers, on_cluster=on_cluster)
    return Start(config, runners, found, archive_server)


def files_of(run: RunContext) -> Any:
    """Start the actor for runners on other machines; None if all are on this one."""
    if not (run.settings.joins_cluster and run.settings.ray_workers):
        return None
    from rlaif.trainer.learner.runners.driver_files import RunningArchiveServer

    return RunningArchiveServer.start(run.exploration())
