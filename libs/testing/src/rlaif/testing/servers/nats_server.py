"""A real nats-server on a free port, with its own store, for tests that need the real thing."""

import asyncio
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from rlaif.servers.nats_server import HOST, NatsServerRecipe, find_nats_server

if TYPE_CHECKING:
    from rlaif.bus.connection import Bus

START_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 5.0
_POLL_SECONDS = 0.01
_DEPLOYED = Path(__file__).parents[6] / "deploy/base/nats"
_PORT_TRIES = 3


class NatsServerError(RuntimeError):
    """The server did not start; the text holds its log's end."""


class NatsServer:
    """One nats-server process with JetStream; its port and its store survive a restart.

    Args:
        directory: Existing, empty directory for its store, configuration and log.
        max_file: JetStream's room on disk, in nats-server's notation.
        token: What clients must show; None lets everybody in.
        more: Further lines of its configuration, such as users or TLS.
    """

    def __init__(
        self,
        directory: Path,
        *,
        max_file: str = "1GB",
        token: str | None = None,
        more: str = "",
    ) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        port, monitor_port = free_ports(2)
        self._recipe = NatsServerRecipe(
            directory, port, monitor_port, token=token, max_file=max_file, more=more
        )

    @property
    def port(self) -> int:
        """Port for clients."""
        return self._recipe.port

    @property
    def url(self) -> str:
        """Where clients connect, with the token if there is one."""
        return self._recipe.url

    @property
    def monitor_url(self) -> str:
        """The monitoring endpoints, such as `/healthz` and `/jsz`."""
        return self._recipe.monitor_url

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process else None

    def url_of(self, user: str) -> str:
        """Where a user of `more` connects whose password is the name."""
        return f"nats://{user}:{user}@{HOST}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is healthy.

        Raises:
            NatsServerError: It did not become healthy in time.
        """
        if self._process is not None:
            raise NatsServerError(f"nats-server runs already, pid {self._process.pid}")
        first_start = not (self._directory / "js").exists()
        for tries_left in reversed(range(_PORT_TRIES)):
            self._spawn()
            try:
                self._wait_healthy()
                return
            except NatsServerError:
                self.kill()
                if not (first_start and tries_left):
                    raise
                # Another process may have taken the port between choosing and binding it.
                port, monitor_port = free_ports(2)
                self._recipe = replace(self._recipe, port=port, monitor_port=monitor_port)

    def stop(self) -> None:
        """End it in order; nothing happens when it does not run."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Kill it and start it again on the same port and store."""
        self.kill()
        self.start()

    def _spawn(self) -> None:
        self._recipe.write_files()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._recipe.command(find_nats_server()),
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal must not end it before the tests
            )

    def _wait_healthy(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            if self._recipe.healthy():
                return
            time.sleep(_POLL_SECONDS)
        log = self._log.read_text(errors="replace")[-2000:]
        raise NatsServerError(f"nats-server was not healthy on port {self.port}; its log:\n{log}")

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def _log(self) -> Path:
        return self._directory / "nats.log"


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """The session's nats-server. A test that kills it starts it again before it ends."""
    server = NatsServer(tmp_path_factory.mktemp("nats"))
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def nats_url(nats_server: NatsServer) -> str:
    """URL of the session's nats-server."""
    return nats_server.url


@pytest_asyncio.fixture
async def bus(nats_server: NatsServer) -> AsyncIterator["Bus"]:
    """A connected bus on fresh, empty streams."""
    from rlaif.bus.connection import connect

    if nats_server.pid is None:
        nats_server.start()
    opened = await connect(nats_server.url, name="test")
    try:
        # Deleting forgets the message ids too; a purge would keep them for an hour, and a later
        # test's equal event would pass for a duplicate.
        await opened.delete_topology()
        await _made_anew(opened)
        yield opened
    finally:
        await opened.close()


async def _made_anew(bus: "Bus") -> None:
    """Make the streams, which were just deleted.

    A server with much to do is still removing the files of the old ones and answers with an error.
    """
    from rlaif.bus.errors import BusUnavailableError

    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            return await bus.ensure_topology()
        except BusUnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)


@pytest.fixture
def guarded_nats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NatsServer]:
    """A server without streams, with the deployed accounts; a user's password is its name.

    The user `admin` may do everything, `service` has the least rights of services; `url_of` says
    where each connects.
    """
    for user in ("admin", "service"):
        monkeypatch.setenv(f"NATS_{user.upper()}_USER", user)
        monkeypatch.setenv(f"NATS_{user.upper()}_PASSWORD", user)
    text = (_DEPLOYED / "nats.conf").read_text(encoding="utf-8")
    shutil.copy(_DEPLOYED / "permissions.conf", tmp_path)
    accounts = text[text.index("accounts {") : text.index("include ./cluster.conf")]
    server = NatsServer(tmp_path, more=accounts)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_ports(count: int) -> list[int]:
    """Ports of this machine that are unused now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
