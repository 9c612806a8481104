"""Starts the judge: `python -m rlaif.judge`."""

import os
import sys

from rlaif.judge.settings import JudgeSettings
from rlaif.service.cli import RESTART, run


def main() -> int:
    """Run until stopped; returns the exit code."""
    code = run(
        JudgeSettings,
        "rlaif.judge.app:create_service",
        description="Scores segments with language models.",
    )
    if code == RESTART:
        os.execv(sys.executable, sys.orig_argv)
    return code


if __name__ == "__main__":
    sys.exit(main())
