"""The end of a session takes every process in it, and nothing else."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder import session

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="there is no /proc: run on Linux"
)

SLEEPS = "import time; time.sleep(600)"
FAMILY = (
    "import subprocess, sys; "
    f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}], process_group=0); "
    f"print(flush=True); {SLEEPS}"
)


def test_all_of_a_session_ends_whatever_group_it_is_in():
    leader = subprocess.Popen(
        [sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, start_new_session=True
    )
    other = subprocess.Popen([sys.executable, "-c", SLEEPS], start_new_session=True)
    assert leader.stdout is not None
    leader.stdout.readline()
    assert len(session.members(leader.pid)) == 2
    session.end(leader.pid)
    assert session.members(leader.pid) == []
    assert session.members(other.pid) == [other.pid]
    session.end(other.pid)
    leader.stdout.close()
    assert (leader.wait(), other.wait()) == (-9, -9)


async def test_the_guard_ends_a_session_whose_leader_was_killed():
    starts = "from rlaif.trainer.run_folder import session; kept = session.guard()"
    guarded = f"{starts}; exec({FAMILY!r})"
    leader = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", guarded), stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout is not None
    await leader.stdout.readline()
    assert len(session.members(leader.pid)) == 3
    leader.kill()
    await eventually(lambda: not session.members(leader.pid), "the end of all")
    await leader.wait()


TELLS = (
    "import os; from rlaif.trainer.run_folder import session; session.step_back(5); "
    "print(os.getpriority(os.PRIO_PROCESS, 0), open('/proc/self/autogroup').read().split()[-1])"
)


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(),
    reason="the kernel has no autogroups: run on a kernel with CONFIG_SCHED_AUTOGROUP",
)
def test_a_session_steps_back_as_a_whole_and_only_by_its_leader():
    own = subprocess.run(
        [sys.executable, "-c", TELLS], capture_output=True, text=True, start_new_session=True
    )
    assert own.stdout.split()[-1] == "5", own.stderr
    # A process that others share a session with leaves them as they are.
    inside = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {TELLS!r}])"
    shared = subprocess.run(
        [sys.executable, "-c", inside], capture_output=True, text=True, start_new_session=True
    )
    assert shared.stdout.split()[-1] == "0", shared.stderr
