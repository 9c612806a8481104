"""Opens the events and objects of a data directory, with or without a running pipeline."""

import errno
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from rlaif.bus.connection import Bus, connect_ready
from rlaif.local.child import Child
from rlaif.local.places import DataDirectory, DataDirectoryBusyError, Ports
from rlaif.local.stack import Options, plan
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore


@dataclass(frozen=True)
class Opened:
    """Connections to a pipeline; `running` if its own servers answer, `hud` is its page."""

    running: bool
    bus: Bus
    episodes: ObjectStore
    models: ObjectStore
    hud: str


@asynccontextmanager
async def opened(home: DataDirectory) -> AsyncIterator[Opened]:
    """Connect to the running servers of the directory, or start them for the context.

    Raises:
        FileNotFoundError: No pipeline has run in the directory.
        ChildFailedError: A server could not be started.
        BusUnavailableError, StorageError: A server does not answer.
    """
    if not (home.root / "secrets.json").exists():
        reason = "no pipeline has run here, as it has no secrets.json"
        raise FileNotFoundError(errno.ENOENT, reason, str(home.root))
    async with AsyncExitStack() as stack:
        try:
            stack.enter_context(home.lock())
            running = False
            await _start_servers(home, stack)
        except DataDirectoryBusyError:
            running = True
        addresses, secrets = home.addresses(), home.secrets()
        bus = await connect_ready(addresses["NATS_URL"], name="doctor")
        stack.push_async_callback(bus.close)
        s3 = S3Credentials(
            addresses.get("S3_ENDPOINT_URL"), secrets.s3_access_key, secrets.s3_secret_key
        )
        yield Opened(
            running,
            bus,
            open_store(addresses["EPISODES_STORE"], s3),
            open_store(addresses["MODELS_STORE"], s3),
            addresses["HUD_URL"],
        )


async def _start_servers(home: DataDirectory, stack: AsyncExitStack) -> None:
    planned = plan(Options(home.root), stack.enter_context(Ports()))
    for spec in planned.servers:
        if spec.name != "mock-llm":
            server = Child(spec, lambda _child, _reason: None)
            stack.push_async_callback(server.stop, seconds=spec.stop_seconds)
            await server.start()
