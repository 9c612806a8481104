"""`python -m rlaif.trainer`: run the trainer service."""

import sys
from typing import TYPE_CHECKING

from rlaif.service.cli import InvalidSettingsError, run
from rlaif.storage.ports import StorageError
from rlaif.trainer.settings import TrainerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


def _create_app(settings: TrainerSettings) -> "FastAPI":
    from rlaif.trainer.checks import WrongSettingsError, check
    from rlaif.trainer.run_folder.record import list_runs
    from rlaif.trainer.service.app import create_app

    if settings.autostart and not list_runs(settings.data_dir.resolve()):
        # A known run resumes from its own checkpoint; /readyz reports its errors.
        try:
            check(settings)
        except WrongSettingsError as error:
            raise InvalidSettingsError(str(error)) from error
    try:
        return create_app(settings)
    except StorageError as error:
        raise InvalidSettingsError(str(error)) from error


def main() -> int:
    """Run the service until a stop signal; return the exit code."""
    return run(
        TrainerSettings,
        _create_app,
        description="Trains the agent with PPO, captures segments, hot-loads reward models.",
    )


if __name__ == "__main__":
    sys.exit(main())
