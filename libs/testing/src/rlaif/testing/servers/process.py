"""A test server: a process that the test starts, stops and kills."""

import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Self

STOP_SECONDS = 10.0
_TRIES = 3


class ServerProcess(ABC):
    """One process; its ports and its data survive a restart."""

    def __init__(self, data: Path, log: Path) -> None:
        """`data` exists once it has run."""
        self._data, self._log = data, log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start or restart it on the same data, and wait until it is ready.

        Raises:
            RuntimeError: It did not become ready; the message contains the end of its log.
        """
        assert self._process is None, f"it runs already, pid {self.pid}"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        for tries_left in reversed(range(1 if self._data.exists() else _TRIES)):
            with self._log.open("ab") as log:
                process = self._process = self._spawn(log.fileno())
            try:
                return self._wait_ready(lambda: process.poll() is None)  # noqa: B023
            except Exception as error:
                self.kill()
                if not tries_left:
                    text = self._log.read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"{error}; its log:\n{text}") from error
                # Another process may have taken a port between choosing and binding it.
                self._choose_ports()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Terminate it gracefully, by force after 10 s; no effect if it is not running."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, as in a crash; `start` restarts it with its data."""
        self._end(signal.SIGKILL)

    @abstractmethod
    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        """Start it in its own session, so that Ctrl-C does not end it before the tests."""

    @abstractmethod
    def _wait_ready(self, alive: Callable[[], bool]) -> None: ...

    @abstractmethod
    def _choose_ports(self) -> None: ...

    def _end(self, sent: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for number in (sent, signal.SIGKILL):
            if process.poll() is None:
                # Its own session, so the group contains only the server and its children.
                os.killpg(process.pid, number)
            try:
                process.wait(STOP_SECONDS)
                return
            except subprocess.TimeoutExpired:
                continue
