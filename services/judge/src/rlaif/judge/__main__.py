"""Starts the judge: `python -m rlaif.judge`."""

import sys
from typing import TYPE_CHECKING

from rlaif.judge.settings import JudgeSettings
from rlaif.service.cli import run

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until asked to stop; returns the exit code."""
    return run(JudgeSettings, _create_app, description="Scores segments with language models.")


def _create_app(settings: JudgeSettings) -> "FastAPI":
    # Imported here so that --help answers at once.
    from rlaif.judge.app import create_app

    return create_app(settings)


if __name__ == "__main__":
    sys.exit(main())
