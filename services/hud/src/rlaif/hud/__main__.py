"""`python -m rlaif.hud`: runs the HUD."""

import sys
from typing import TYPE_CHECKING

from rlaif.hud.settings import HudSettings
from rlaif.service.cli import InvalidSettingsError, run
from rlaif.storage.ports import StorageError

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until stopped and return the exit code."""
    return run(HudSettings, _create_app, description="Live dashboard of the training pipeline.")


def _create_app(settings: HudSettings) -> "FastAPI":
    from rlaif.hud.app import create_app

    try:
        return create_app(settings)
    except StorageError as error:
        raise InvalidSettingsError(str(error)) from error


if __name__ == "__main__":
    sys.exit(main())
