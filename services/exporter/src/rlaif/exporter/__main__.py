"""Starts the exporter: `python -m rlaif.exporter`."""

import sys
from typing import TYPE_CHECKING

from rlaif.exporter.settings import ExporterSettings
from rlaif.service.cli import run

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until asked to stop; returns the exit code."""
    return run(
        ExporterSettings,
        _create_app,
        description="Replays captured segments and exports frames, states and observations.",
    )


def _create_app(settings: ExporterSettings) -> "FastAPI":
    # Imported late so that --help is fast.
    from rlaif.exporter.app import create_app

    return create_app(settings)


if __name__ == "__main__":
    sys.exit(main())
