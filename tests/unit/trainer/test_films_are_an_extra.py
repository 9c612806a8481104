"""Films need PyAV; all else works without it."""

import subprocess
import sys

import pytest

from rlaif.trainer.evaluate import main


def test_without_pyav_the_films_say_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "av", None)  # as if it were not installed
    assert main(["run-1", "--recorded", "1", "--data-dir", str(tmp_path)]) == 2
    assert "pip install 'rlaif-trainer[films]'" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["rlaif.trainer.service.app", "rlaif.trainer.learner.process"])
def test_service_and_training_start_without_pyav(module):
    code = f"import sys; sys.modules['av'] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
