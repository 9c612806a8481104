"""Films need PyAV; all else works without it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["rlaif.trainer.service.app", "rlaif.trainer.learner.process"])
def test_service_and_training_start_without_pyav(module):
    code = f"import sys; sys.modules['av'] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
