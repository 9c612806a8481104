"""Starts the exporter: `python -m rlaif.exporter`."""

import sys

from rlaif.exporter.settings import ExporterSettings
from rlaif.service.cli import run


def main() -> int:
    """Run until stopped; returns the exit code."""
    return run(
        ExporterSettings,
        "rlaif.exporter.app:create_app",
        description="Replays captured segments and exports frames, states and observations.",
    )


if __name__ == "__main__":
    sys.exit(main())
