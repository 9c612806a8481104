"""`python -m rlaif.trainer`: run the trainer service."""

import sys
from typing import TYPE_CHECKING

from rlaif.service.cli import run
from rlaif.trainer.settings import TrainerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


def _create_app(settings: TrainerSettings) -> "FastAPI":
    from rlaif.trainer.app import create_app

    return create_app(settings)


def main() -> int:
    """Run the service until it is told to stop; returns the exit code."""
    return run(
        TrainerSettings,
        _create_app,
        description="Trains the agent with PPO, captures segments, hot-loads reward models.",
    )


if __name__ == "__main__":
    sys.exit(main())
