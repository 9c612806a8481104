"""The configuration of deploy/base on a real server: what a service may do, and what it may not."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.events import SegmentExported
from rlaif.servers.nats_server import find_nats_server
from rlaif.testing.data.events import segment_exported
from rlaif.testing.servers.nats_server import free_ports
from rlaif.testing.waiting import backlog_of, eventually

CONFIGURATION = Path(__file__).parents[3] / "deploy/base/nats"
SECRET = {
    **{f"NATS_{name}_PASSWORD": "9f8e" for name in ("TRAINER", "REWARD_MODEL", "HUD", "JUDGE")},
    "NATS_ADMIN_PASSWORD": "9f8e",
    "NATS_EXPORTER_PASSWORD": r'"4 #2/\"{\\},ä"',
}
"""Of the Secret rlaif-nats-server: letters and digits, or in double quotes as a vault's come."""

Open = Callable[[str], AbstractAsyncContextManager[Bus]]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A server with the configuration of the cluster; only its places are this machine's."""
    (port,) = free_ports(1)
    for file in CONFIGURATION.glob("*.conf"):
        shutil.copy(file, tmp_path)
    text = (tmp_path / "nats.conf").read_text()
    for theirs, ours in (
        (r"^port: 4222", f"port: {port}"),
        (r"^http_port: 8222", "http_port: -1"),
        (r"/var/run/nats", str(tmp_path)),
        (r"store_dir: /data", f"store_dir: {tmp_path}/data"),
    ):
        text, found = re.subn(theirs, ours, text, flags=re.MULTILINE)
        assert found == 1, theirs
    (tmp_path / "nats.conf").write_text(text)
    server = subprocess.Popen(
        [find_nats_server(), "-a", "127.0.0.1", "-c", str(tmp_path / "nats.conf")],
        env=os.environ | SECRET | {"NATS_SERVER_NAME": "nats-0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield port
    server.terminate()
    server.wait(timeout=60)


@pytest.fixture
def opened(port: int) -> Open:
    """Opens a bus as one of the users, once the server answers."""

    @asynccontextmanager
    async def open_as(user: str) -> AsyncIterator[Bus]:
        written = SECRET[f"NATS_{user.upper()}_PASSWORD"]
        password = quote(json.loads(written) if written.startswith('"') else written, safe="")
        url = f"nats://{user}:{password}@127.0.0.1:{port}"
        bus: Bus | None = None

        async def answers() -> bool:
            nonlocal bus
            try:
                bus = await connect(url, name=user, manage_streams=user == "admin")
            except BusUnavailableError:
                return False
            return True

        await eventually(answers, f"{user} is let in")
        assert bus is not None
        try:
            yield bus
        finally:
            await bus.close()

    return open_as


async def test_a_service_publishes_and_counts_on_streams_that_the_bootstrap_made(opened):
    async with opened("admin") as admin:
        await admin.align_topology()
    async with opened("exporter") as service:
        await service.publisher("exporter").publish(segment_exported())
        await backlog_of(service, SegmentExported, "judge", 1)


async def test_a_client_without_a_password_is_rejected(port, opened):
    async with opened("admin"):
        pass
    with pytest.raises(BusUnavailableError):
        await connect(f"nats://127.0.0.1:{port}", name="stranger", manage_streams=False)
