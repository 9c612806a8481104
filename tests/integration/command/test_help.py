"""The help of every subcommand of `rlaif`, as a terminal of 80 columns shows it."""

import os
import subprocess
import sys

import pytest

from rlaif.command.table import SUBCOMMANDS

WITHOUT_OPTIONS = {"completion", "version"}


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS.keys() - WITHOUT_OPTIONS))
def test_the_help_of_a_command_names_it_and_fits_80_columns(name):
    run = subprocess.run(
        [sys.executable, "-m", "rlaif.command", name, "--help"],
        env=os.environ | {"COLUMNS": "80"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"usage: rlaif {name}")
    assert max(map(len, lines)) <= 80
