"""The proxy on real connections: what passes while it disturbs them, and afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from rlaif.testing.chaos.proxy import HOST, FaultProxy


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[FaultProxy, int]]:
    """In front of a server that sends back what it gets; and its port."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(100):
                writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, HOST, 0)
    made = FaultProxy(server.sockets[0].getsockname()[1])
    yield made, await made.start()
    await made.close()
    server.close()
    await server.wait_closed()


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(HOST, port)
    yield reader, writer
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@pytest.mark.parametrize("disturbance", ["latency", "black hole"])
async def test_bytes_are_late_and_not_lost(proxy: tuple[FaultProxy, int], disturbance: str):
    made, port = proxy
    async with connected(port) as (reader, writer):
        made.disturb(disturbance)
        writer.write(b"late")
        arriving = asyncio.create_task(reader.readexactly(4))
        done, _ = await asyncio.wait([arriving], timeout=0.1)
        assert not done
        made.heal()
        assert await arriving == b"late"


async def test_a_reset_ends_connections_and_new_ones_until_it_is_healed(
    proxy: tuple[FaultProxy, int],
):
    made, port = proxy
    async with connected(port) as (reader, writer):
        writer.write(b"here")
        assert await reader.readexactly(4) == b"here"
        made.disturb("reset")
        with pytest.raises(ConnectionResetError):
            await reader.read()
    async with connected(port) as (reader, _):
        with pytest.raises(ConnectionResetError):
            await reader.read()
    made.heal()
    async with connected(port) as (reader, writer):
        writer.write(b"here")
        assert await reader.readexactly(4) == b"here"
