"""A server or a service that hangs is reported, and the launcher restarts it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from rlaif.local import child as module
from rlaif.local.child import Child
from rlaif.local.places import Ports
from rlaif.local.stack import Options, Stack, plan
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.watched import WatchedStore
from rlaif.testing.waiting import eventually

Start = Callable[[str], Awaitable[Child]]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """The real stack, with its objects in SeaweedFS."""
    (tmp_path / "s3").mkdir()
    (tmp_path / "s3" / "filer.db").touch()
    with Ports() as ports:
        yield plan(Options(tmp_path), ports)


@pytest.fixture
async def start(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    monkeypatch.setattr(module, "_CHECK_SECONDS", 1.0)
    children: list[Child] = []

    async def started(name: str) -> Child:
        [spec] = [each for each in (*stack.servers, *stack.services) if each.name == name]
        children.append(Child(spec, lambda *_: None))
        await children[-1].start()
        return children[-1]

    yield started
    for child in children:
        await child.stop(seconds=0)


@pytest.mark.parametrize("name", ["nats", "mock-llm"])
async def test_one_that_hangs_is_restarted(start, name):
    child = await start(name)
    os.kill(child.pid, signal.SIGSTOP)
    await eventually(lambda: child.restarts >= 1, "its restart")
    await eventually(child.spec.answers, "its answer")


async def test_a_hung_s3_is_not_ready_and_is_restarted(start, stack):
    child = await start("s3")
    told = stack.services[0].environment
    names = ("S3_ENDPOINT_URL", "S3_ACCESS_KEY", "S3_SECRET_KEY")
    store = open_store(told["EPISODES_STORE"], S3Credentials(*map(told.get, names)))
    watched = WatchedStore(store, every=0.1, limit=1.0)
    watching = asyncio.create_task(watched.run())
    await eventually(lambda: watched.check() is None, "S3 is used")
    os.kill(child.pid, signal.SIGSTOP)
    await eventually(lambda: store.url in (watched.check() or ""), "its name in /readyz")
    await eventually(lambda: child.restarts >= 1, "its restart")
    await eventually(lambda: watched.check() is None, "it works again")
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
