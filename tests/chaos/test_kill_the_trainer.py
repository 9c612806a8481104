"""The trainer is killed while it trains: the loop closes again, and nothing is lost.

`make chaos` kills the other services, and the trainer while it only uploads.
"""

import re
from pathlib import Path

import pytest

from rlaif.testing.pipeline import CLOSED, Pipeline

LOOP_SECONDS = 600
READY = re.compile("✓ reward-model")


@pytest.mark.timeout(1500)
def test_the_trainer_may_die_in_the_middle_of_a_demo(tmp_path: Path):
    stores = {"EPISODES_STORE": "s3://zelda-episodes", "MODELS_STORE": "s3://zelda-models"}
    pipeline = Pipeline(tmp_path, environment=stores)
    try:
        pipeline.wait_for(READY, seconds=90)
        pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
        killed = pipeline.kill("trainer")
        pipeline.wait_for(re.compile(r"! trainer ended \(signal 9\)"), seconds=30)
        pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
        assert pipeline.pid("trainer") not in (None, killed)
        findings = pipeline.settle_and_check()
        assert findings.wrong == []
        assert findings.scored > 30
    finally:
        pipeline.end()
    assert pipeline.leftovers() == []
