"""Run a study, each run in its own process."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

from outcome import say

from rlaif.service.child_process import ONE_THREAD


def play_all(commands: Mapping[str, Sequence[str]], jobs: int) -> bool:
    """Run `python COMMAND` for each, `jobs` at a time; False if one failed or on a signal.

    Termination signals are forwarded to all of them; they save their progress.
    """
    waiting = dict(commands)
    playing: dict[subprocess.Popen[bytes], str] = {}
    failed, stop = 0, stopping()
    while (waiting and not stop.is_set()) or playing:
        while waiting and len(playing) < jobs and not stop.is_set():
            name = next(iter(waiting))
            command = waiting.pop(name)
            run = subprocess.Popen(
                [sys.executable, *command], start_new_session=True, env=os.environ | ONE_THREAD
            )
            playing[run] = name
        time.sleep(1.0)
        for process in [each for each in playing if each.poll() is not None]:
            failed += process.returncode != 0
            say(f"{playing.pop(process)}: ended with {process.returncode}")
        if stop.is_set():
            for process in playing:
                process.terminate()
    return not failed and not stop.is_set()


def stopping() -> threading.Event:
    """Set by the first termination signal."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop
