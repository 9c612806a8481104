"""Each service is killed with SIGKILL: the loop closes again, and nothing is lost."""

import re
import time
from pathlib import Path

import pytest

from rlaif.local.stack import SERVICES
from rlaif.testing.ring import CLOSED, Ring

LOOP_SECONDS = 600
READY = re.compile("✓ reward-model")


@pytest.mark.timeout(3900)
def test_every_service_may_die_in_the_middle_of_a_demo(tmp_path: Path):
    ring = Ring(tmp_path)
    try:
        ring.wait_for(READY, seconds=90)
        first = ring.wait_for(CLOSED, seconds=LOOP_SECONDS)
        print(f"\nfirst loop: v{first['version']} from {first['labels']} labels")
        for service in SERVICES:
            killed = ring.kill(service)
            began = time.monotonic()
            ring.wait_for(re.compile(rf"! {service} ended \(signal 9\)"), seconds=30)
            again = ring.wait_for(CLOSED, seconds=LOOP_SECONDS)
            print(
                f"{service}: killed {killed}, loop closed again after "
                f"{time.monotonic() - began:.0f} s as v{again['version']}"
            )
            assert ring.pid(service) not in (None, killed)
        findings = ring.settle_and_check()
        print(
            f"captured {findings.captured}, exported {findings.exported}, "
            f"scored {findings.scored}, dead {findings.dead}"
        )
        assert findings.wrong == []
        assert findings.scored > 60
    finally:
        ring.end()
    assert ring.leftovers() == []
