"""Starts the judge: `python -m rlaif.judge`."""

import sys

from rlaif.judge.settings import JudgeSettings
from rlaif.service.cli import run


def main() -> int:
    """Run until stopped; returns the exit code."""
    return run(
        JudgeSettings,
        "rlaif.judge.app:create_service",
        description="Scores segments with language models.",
    )


if __name__ == "__main__":
    sys.exit(main())
