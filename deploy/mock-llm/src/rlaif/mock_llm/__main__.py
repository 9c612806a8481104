"""Starts the mock LLM: `python -m rlaif.mock_llm`."""

import sys
from typing import TYPE_CHECKING

from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.service.cli import run

if TYPE_CHECKING:
    from fastapi import FastAPI


def main() -> int:
    """Run until asked to stop; returns the exit code."""
    return run(
        MockLlmSettings,
        _create_app,
        description="OpenAI-compatible server in which a simulated expert answers prompts.",
    )


def _create_app(settings: MockLlmSettings) -> "FastAPI":
    # Imported here so that --help answers at once.
    from rlaif.mock_llm.app import create_app

    return create_app(settings)


if __name__ == "__main__":
    sys.exit(main())
