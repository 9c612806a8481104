"""One child process: ready or not, started again when it dies, ended with all that it started."""

import asyncio
import dataclasses
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from rlaif.local import child as module
from rlaif.local.child import Child, ChildFailedError, ChildSpec
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

SHELL = "/bin/sh"


class Script:
    """A shell script as a child, in a folder where it can leave marks."""

    def __init__(
        self,
        folder: Path,
        text: str,
        *,
        ready: str,
        ready_seconds: float,
        answers: Callable[[], Awaitable[bool]] | None,
    ) -> None:
        async def is_ready() -> bool:
            return (folder / ready).exists()

        self.folder = folder
        self.deaths: list[str] = []
        self.child = Child(
            ChildSpec(
                name="script",
                command=(SHELL, "-c", text),
                environment=dict(os.environ) | {"GREETING": "hello"},
                ready=is_ready,
                log=folder / "logs" / "script.log",
                directory=folder,
                ready_seconds=ready_seconds,
                answers=answers,
            ),
            lambda child, reason: self.deaths.append(reason),
        )

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().split() if path.exists() else []


Run = Callable[..., Script]


@pytest.fixture
async def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Run]:
    monkeypatch.setattr(module, "_READY_POLL_SECONDS", 0.01)
    made: list[Script] = []

    def make(
        text: str,
        *,
        ready: str = "up",
        ready_seconds: float = 20.0,
        answers: Callable[[], Awaitable[bool]] | None = None,
    ) -> Script:
        made.append(
            Script(tmp_path, text, ready=ready, ready_seconds=ready_seconds, answers=answers)
        )
        return made[-1]

    yield make
    for script in made:
        await script.child.stop(seconds=0)


def lives(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def test_it_runs_in_its_folder_with_its_environment_and_writes_its_log(run):
    script = run('echo "$GREETING"; pwd; touch up; exec tail -f /dev/null')
    await script.child.start()
    assert script.child.pid is not None
    assert script.child.spec.log.read_text().split() == ["hello", str(script.folder)]


async def test_a_process_that_ends_before_it_is_ready_is_reported_with_the_end_of_its_log(run):
    script = run("seq 1 20; exit 3")
    with pytest.raises(ChildFailedError) as failed:
        await script.child.start()
    lines = str(failed.value).splitlines()
    assert lines[0] == "script could not start: it ended"
    assert str(script.child.spec.log) in lines[1]
    assert lines[2:] == [f"  | {number}" for number in range(13, 21)]
    assert failed.value.code == 3


async def test_a_process_that_does_not_get_ready_is_reported(run):
    script = run("exec tail -f /dev/null", ready="never", ready_seconds=0.1)
    with pytest.raises(ChildFailedError, match="it was not ready after 0 s"):
        await script.child.start()


async def test_it_is_restarted_when_it_dies_and_that_is_reported(run, monkeypatch):
    monkeypatch.setattr(module, "_RESTART_CAP_SECONDS", 0.01)
    script = run('echo $$ >> pids; touch up; [ "$(wc -l < pids)" -gt 1 ] || exit 7; tail -f pids')
    await script.child.start()
    await eventually(lambda: len(script.lines("pids")) == 2, "it runs again")
    assert script.deaths == ["exit code 7"]
    assert script.child.restarts == 1
    assert str(script.child.pid) == script.lines("pids")[1]


async def test_a_restart_that_the_system_refuses_is_reported_and_tried_again(run, monkeypatch):
    monkeypatch.setattr(module, "_RESTART_CAP_SECONDS", 0.01)
    script = run("touch up; exec tail -f /dev/null")
    await script.child.start()
    log = script.child.spec.log
    log.unlink()
    log.mkdir()
    os.kill(script.child.pid, signal.SIGKILL)
    await eventually(lambda: len(script.deaths) > 2, "it is tried again")
    assert "Is a directory" in script.deaths[1]
    log.rmdir()
    await eventually(lambda: script.child.restarts == 1, "it runs again")


async def test_a_process_that_does_not_answer_is_restarted_a_few_times(run, monkeypatch):
    monkeypatch.setattr(module, "_RESTART_CAP_SECONDS", 0.01)
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.01)

    async def silent() -> bool:
        return await asyncio.Event().wait()

    script = run("echo $$ >> pids; touch up; exec tail -f /dev/null", answers=silent)
    await script.child.start()
    script.child.spec = dataclasses.replace(script.child.spec, ready_seconds=0.03)
    await eventually(lambda: script.child.restarts == 3, "it was restarted three times")
    await eventually(lambda: str(script.child.pid) in script.lines("pids"), "the last one runs")
    assert [reason[:11] for reason in script.deaths] == ["no answer t"] * 3


async def test_one_that_was_restarted_has_its_time_to_start(run, monkeypatch):
    monkeypatch.setattr(module, "_RESTART_CAP_SECONDS", 0.01)
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.01)
    asked: list[bool] = []

    async def answers_late() -> bool:
        asked.append(script.child.restarts > 0 and len(asked) >= 10 * module._MISSED_CHECKS)
        return asked[-1]

    script = run("touch up; exec tail -f /dev/null", answers=answers_late)
    await script.child.start()
    await eventually(lambda: any(asked), "it answers at last")
    assert len(script.deaths) == 1


async def test_one_that_answers_again_is_left_alone(run, monkeypatch):
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.01)
    asked: list[bool] = []

    async def answers_the_third_time() -> bool:
        asked.append(len(asked) % 3 == 2)
        return asked[-1]

    script = run("touch up; exec tail -f /dev/null", answers=answers_the_third_time)
    await script.child.start()
    await eventually(lambda: len(asked) > 6, "it is asked again and again")
    assert script.deaths == []


async def test_what_a_dead_one_started_is_ended_before_the_next_starts(run):
    script = run("tail -f /dev/null & echo $! >> children; touch up; wait")
    await script.child.start()
    (left,) = script.lines("children")
    os.kill(script.child.pid, signal.SIGKILL)
    await eventually(lambda: script.deaths == ["signal 9"], "its death is reported")
    await eventually(lambda: not lives(left), "what it started is gone")


async def test_one_that_will_not_end_is_killed_with_its_children(run):
    script = run("trap '' TERM; tail -f /dev/null & echo $! >> children; touch up; wait; wait")
    await script.child.start()
    (left,) = script.lines("children")
    await script.child.stop(seconds=0.1)
    assert script.child.pid is None
    await eventually(lambda: not lives(left), "its child is gone too")


async def test_a_hurry_does_not_wait_for_the_end_of_its_time(run):
    script = run("trap '' TERM; touch up; while :; do wait; done")
    await script.child.start()
    hurry = asyncio.Event()
    hurry.set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await script.child.stop(seconds=3600, hurry=hurry)


@pytest.mark.skipif(sys.platform != "linux", reason="no signal when a parent dies: run on Linux")
async def test_a_child_ends_with_a_supervisor_that_is_killed(tmp_path: Path):
    """The parent is gone: the kernel ends the child."""
    program = tmp_path / "supervisor.py"
    program.write_text(
        "import subprocess, sys\n"
        "tether = [sys.executable, '-m', 'rlaif.local.tether', '/bin/sh', '-c']\n"
        "child = subprocess.Popen([*tether, 'echo $$ >> pid; exec tail -f /dev/null'],\n"
        "                         start_new_session=True)\n"
        "child.wait()\n"
    )
    supervisor = await asyncio.create_subprocess_exec(sys.executable, str(program), cwd=tmp_path)
    pid = tmp_path / "pid"
    await eventually(lambda: pid.exists() and pid.read_text().endswith("\n"), "the child runs")
    child = pid.read_text().strip()
    assert lives(child)
    supervisor.kill()
    await supervisor.wait()
    await eventually(lambda: not lives(child), "the child has ended")
