"""Starts the reward-model service: `python -m rlaif.reward_model`."""

import sys

from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.cli import run


def main() -> int:
    """Run until asked to stop; returns the exit code."""
    return run(
        RewardModelSettings,
        "rlaif.reward_model.app:create_app",
        description="Trains reward models from the judges' scores and publishes those that pass.",
    )


if __name__ == "__main__":
    sys.exit(main())
