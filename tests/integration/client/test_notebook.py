"""`docs/runs.ipynb`, run as it is on two short runs.

Needs Jupyter's kernel and Matplotlib, which nothing but `make notebook-test` installs.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PYTHON = Path(os.environ.get("NOTEBOOK_PYTHON", ROOT / ".venv-notebook/bin/python"))
EXECUTE = """
import json, sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read("runs.ipynb", as_version=4)
NotebookClient(notebook, timeout=300).execute()
print(json.dumps(notebook.cells))
"""


@pytest.fixture
def outputs() -> list[str]:
    """What each cell of code shows, as text."""
    if not PYTHON.exists():
        reason = "Jupyter's kernel is not installed: make notebook-test installs it"
        if os.environ.get("REQUIRE_NOTEBOOK"):
            pytest.fail(reason)
        pytest.skip(reason)
    run = subprocess.run(
        [PYTHON, "-c", EXECUTE],
        cwd=ROOT / "docs",
        env={**os.environ, "PYTHONPATH": str(ROOT / "libs/common/src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    cells = json.loads(run.stdout.splitlines()[-1])
    return [json.dumps(each["outputs"]) for each in cells if each["cell_type"] == "code"]


def test_the_notebook_loads_plots_and_compares_runs(outputs: list[str]) -> None:
    _, table, plot, settings, curves = outputs
    assert "num_env_steps_sampled_lifetime" in table
    assert "image/png" in plot
    assert "TRAINER_PPO_LEARNING_RATE" in settings
    assert "image/png" in curves
