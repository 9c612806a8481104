"""Starts the reward-model service: `python -m rlaif.reward_model`."""

import sys
from typing import TYPE_CHECKING

from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.cli import run

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until asked to stop; returns the exit code."""
    return run(
        RewardModelSettings,
        _create_app,
        description="Learns a reward model from the judges' scores and publishes what passes.",
    )


def _create_app(settings: RewardModelSettings) -> "FastAPI":
    # Imported here so that --help answers at once.
    from rlaif.reward_model.app import create_app

    return create_app(settings)


if __name__ == "__main__":
    sys.exit(main())
