"""The same seed gives the same game: in another process, after detours, drawn or not.

`benchmarks/determinism.py` shows it for 50,000 steps; this is the everyday part of it.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.testing.data.random_play import boot

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "determinism.py"


def test_three_processes_come_to_the_same_ram_and_observations():
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--steps", "3000"],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["same"]
    # Were the game standing still, equal marks would prove nothing.
    assert result["distinct_marks"] == result["marks"] == 10


@pytest.fixture
def pair():
    emulators = [Emulator(load_cartridge().data) for _ in range(2)]
    boot(emulators[0])
    emulators[1].load_state(emulators[0].save_state())
    yield emulators
    for emulator in emulators:
        emulator.close()


def test_many_frames_at_once_are_the_same_as_one_by_one_in_play(pair):
    once, singly = pair
    rng = np.random.default_rng(2)
    for _ in range(60):
        action, frames = int(rng.integers(0, 4)), int(rng.integers(1, 40))
        once.step(action, 4)
        singly.step(action, 4)
        once.tick(frames)
        for _ in range(frames):
            singly.tick(1)
        assert once.ram_digest() == singly.ram_digest()


def test_drawing_changes_no_ram_in_play(pair):
    drawn, plain = pair
    rng = np.random.default_rng(4)
    for action in np.repeat(rng.integers(0, 8, 150), 3).tolist():
        drawn.step(action, 4, render=True)
        plain.step(action, 4)
    assert drawn.ram_digest() == plain.ram_digest()
