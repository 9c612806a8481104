"""A real nats-server on a free port with its own store, for integration tests."""

import asyncio
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from rlaif.bus.errors import BusUnavailableError
from rlaif.servers.identities import nats_users
from rlaif.servers.nats_server import NatsServerRecipe, find_nats_server
from rlaif.testing.servers.process import ServerProcess

if TYPE_CHECKING:
    from rlaif.bus.connection import Bus

START_TIMEOUT_SECONDS = 30.0
_POLL_SECONDS = 0.01


class NatsServer(ServerProcess):
    """One nats-server process with JetStream.

    Args:
        directory: For its store, configuration and log; created if missing.
        max_file: Disk limit of JetStream, in nats-server's notation.
        more: Additional lines of its configuration, such as users or TLS.
    """

    def __init__(self, directory: Path, *, max_file: str = "1GB", more: str = "") -> None:
        super().__init__(directory / "js", directory / "nats.log")
        port, monitor_port = free_ports(2)
        self._recipe = NatsServerRecipe(directory, port, monitor_port, max_file=max_file, more=more)

    @property
    def port(self) -> int:
        return self._recipe.port

    @property
    def url(self) -> str:
        """URL for clients, without credentials."""
        return self._recipe.url

    def url_of(self, user: str) -> str:
        """URL for a user of `more` whose password is the name."""
        return self._recipe.url_of(user, user)

    def restart(self) -> None:
        """Kill it and restart it on the same port and store."""
        self.kill()
        self.start()

    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        self._recipe.write_files()
        command = self._recipe.command(find_nats_server())
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def _wait_ready(self, alive: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not self._recipe.healthy():
            if time.monotonic() > deadline or not alive():
                raise BusUnavailableError(f"nats-server is not healthy on port {self.port}")
            time.sleep(_POLL_SECONDS)

    def _choose_ports(self) -> None:
        port, monitor_port = free_ports(2)
        self._recipe = replace(self._recipe, port=port, monitor_port=monitor_port)


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """The session's nats-server. A test that kills it starts it again before it ends."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


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
        # Deleting also drops the message ids; a purge would keep them for an hour, and a later
        # test's equal event would be taken for a duplicate.
        await opened.delete_topology()
        await _made_anew(opened)
        yield opened
    finally:
        await opened.close()


async def _made_anew(bus: "Bus") -> None:
    """Create the streams, which were just deleted.

    A busy server may still be deleting the files of the old ones and answer with an error.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            return await bus.ensure_topology()
        except BusUnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)


@pytest.fixture
def guarded_nats(tmp_path: Path) -> Iterator[NatsServer]:
    """A server without streams, with the deployed users; a user's password is its name.

    The user `admin` has all permissions, a service those in `rlaif.servers.identities`; `url_of`
    returns the URL of each.
    """
    users = f"authorization {{\n{nats_users(lambda name: name)}}}"
    with NatsServer(tmp_path, more=users) as server:
        yield server


def free_ports(count: int) -> list[int]:
    """Currently unused ports of this machine."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
