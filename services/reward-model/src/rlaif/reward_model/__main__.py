"""Starts the reward-model service: `python -m rlaif.reward_model`."""

import sys
from typing import TYPE_CHECKING

from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.cli import run

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until stopped; returns the exit code."""
    return run(
        RewardModelSettings,
        _create_app,
        description="Trains reward models from the judges' scores and publishes those that pass.",
    )


def _create_app(settings: RewardModelSettings) -> "FastAPI":
    # Imported late so that --help is fast.
    from rlaif.reward_model.app import create_app

    return create_app(settings)


if __name__ == "__main__":
    sys.exit(main())
