"""The whole ring on the built-in cartridge, from power-on to a loaded reward model."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.local.ring import CLOSED, Ring

FIRST_LOOP_SECONDS = 240
READY = re.compile("✓ reward-model")


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[Ring]:
    started = Ring(tmp_path)
    yield started
    started.end()


@pytest.mark.timeout(480)
def test_the_loop_closes_is_watched_loses_nothing_and_stops(ring: Ring):
    ring.wait_for(READY, seconds=90)
    closed = ring.wait_for(CLOSED, seconds=FIRST_LOOP_SECONDS)
    assert float(closed["accuracy"]) > 0.5
    version = closed["version"]
    family = ring.family()  # with the training process and Ray's
    assert len(family) > 10

    manifest = ring.get("reward-model", f"reward-models/{version}").json()
    assert manifest["metrics"]["heldout_episodes"] >= 2
    run = ring.get("trainer", "runs/current").json()
    assert run["reward_model_loaded_at_step"] <= run["env_steps"]
    assert ring.get("hud", "state").json()["run"]["run_id"] == run["run_id"]
    assert ring.get("hud", "screen").content.startswith(b"\xff\xd8\xff")

    findings = ring.settle_and_check()
    assert findings.wrong == []
    assert findings.captured == findings.exported == findings.scored > 20

    code, seconds = ring.interrupt()
    assert code == 0
    assert seconds < 10
    assert ring.leftovers(family) == []
