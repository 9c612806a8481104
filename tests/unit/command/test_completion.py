"""The script of `rlaif completion`, in a real bash."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH = shutil.which("bash") or ""
ASK = """
eval "$(rlaif completion)"
COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rlaif; echo "${COMPREPLY[@]}"
"""

pytestmark = pytest.mark.skipif(not BASH, reason="bash is not installed")


@pytest.fixture
def complete(tmp_path: Path):
    """Gives the words that complete a command line."""
    program = tmp_path / "rlaif"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m rlaif.command "$@"\n')
    program.chmod(0o755)

    def ask(line: str) -> list[str]:
        run = subprocess.run(
            [BASH, "-c", ASK % line],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return run.stdout.split()

    return ask


def test_commands_are_completed(complete):
    assert complete("rlaif dem") == ["demo", "demonstrations"]


def test_options_are_those_of_the_command(complete):
    assert complete("rlaif export --o") == ["--out"]


def test_a_file_is_left_to_the_shell(complete):
    assert complete("rlaif export x") == []


def test_an_option_may_have_digits(complete):
    assert complete("rlaif train --s3-ca") == ["--s3-ca-file"]
