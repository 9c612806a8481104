"""What each process of the demo may hold in memory: libraries that take tens of megabytes.

Each is imported with a store of files, as the demo starts it. The training process, once it trains,
and the process that trains reward models are the only ones with torch.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

LARGE = {
    "av", "boto3", "botocore", "gymnasium", "matplotlib", "networkx", "numba", "numpy", "pandas",
    "PIL", "pyarrow", "pyboy", "ray", "scipy", "sympy", "torch",
}  # fmt: skip
ALLOWED = {
    "rlaif.local.supervisor": set[str](),
    "rlaif.mock_llm.app": set[str](),
    "rlaif.hud.app": set[str](),
    "rlaif.judge.app": {"PIL"},
    "rlaif.reward_model.app": {"numpy"},
    "rlaif.exporter.app": {"numpy", "PIL", "pyboy"},
    "rlaif.exporter.replay_process": {"numpy", "PIL", "pyboy"},
    "rlaif.trainer.service.app": {"numpy", "PIL", "pyboy"},
    # It also searches before it trains, and starts the runners before it imports RLlib.
    "rlaif.trainer.learner.process": {"gymnasium", "numba", "numpy", "PIL", "pyboy", "scipy"},
    "rlaif.trainer.learner.runners.child": {"gymnasium", "numba", "numpy", "PIL", "pyboy", "scipy"},
}
PROGRAM = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
from rlaif.storage.open import open_store
open_store(sys.argv[2], None)
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("module", ALLOWED)
def test_a_process_imports_no_large_library_that_it_does_not_need(module: str, tmp_path: Path):
    command = [sys.executable, "-c", PROGRAM, module, str(tmp_path)]
    imported = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert LARGE & set(imported) <= ALLOWED[module]
