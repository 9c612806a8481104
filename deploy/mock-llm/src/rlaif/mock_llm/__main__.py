"""Starts the mock LLM: `python -m rlaif.mock_llm`."""

import sys

from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.service.cli import run


def main() -> int:
    """Run until stopped; returns the exit code."""
    return run(
        MockLlmSettings,
        "rlaif.mock_llm.app:create_app",
        description="OpenAI-compatible server in which a simulated expert answers prompts.",
    )


if __name__ == "__main__":
    sys.exit(main())
