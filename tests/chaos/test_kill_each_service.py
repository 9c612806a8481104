"""Each service is killed with SIGKILL: the loop closes again, and nothing is lost."""

import re
import time
from pathlib import Path

import pytest

from rlaif.local.stack import SERVICES
from rlaif.testing.pipeline import CLOSED, Pipeline

LOOP_SECONDS = 600
READY = re.compile("✓ reward-model")


@pytest.mark.timeout(3900)
def test_every_service_may_die_in_the_middle_of_a_demo(tmp_path: Path):
    stores = {"EPISODES_STORE": "s3://zelda-episodes", "MODELS_STORE": "s3://zelda-models"}
    pipeline = Pipeline(tmp_path, environment=stores)
    try:
        pipeline.wait_for(READY, seconds=90)
        first = pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
        print(f"\nfirst loop: v{first['version']} from {first['labels']} labels")
        for service in SERVICES:
            killed = pipeline.kill(service)
            began = time.monotonic()
            pipeline.wait_for(re.compile(rf"! {service} ended \(signal 9\)"), seconds=30)
            again = pipeline.wait_for(CLOSED, seconds=LOOP_SECONDS)
            print(
                f"{service}: killed {killed}, loop closed again after "
                f"{time.monotonic() - began:.0f} s as v{again['version']}"
            )
            assert pipeline.pid(service) not in (None, killed)
        findings = pipeline.settle_and_check()
        print(
            f"captured {findings.captured}, exported {findings.exported}, "
            f"scored {findings.scored}, dead {findings.dead}"
        )
        assert findings.wrong == []
        assert findings.scored > 60
    finally:
        pipeline.end()
    assert pipeline.leftovers() == []
