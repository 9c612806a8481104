"""The page under a path of another server: a workbench's proxy, JupyterHub, code-server."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.page.stage import Stage

PREFIX = "/user/ada/proxy/8086"

Proxied = Callable[..., AbstractAsyncContextManager[str]]


@asynccontextmanager
async def _proxied(
    target: str, *, strip: bool = True, named: bool = False, keep_host: bool = True
) -> AsyncIterator[str]:
    """The address of a proxy that passes on what begins with `PREFIX`, one request a connection."""
    host, port = target.removeprefix("http://").split(":")
    asked: set[asyncio.Task[None]] = set()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    def passed_on(head: str) -> str:
        method, path, rest = head.split(" ", 2)
        path = path.removeprefix(PREFIX) if strip else path
        lines = f"{method} {path or '/'} {rest}"
        if "upgrade: websocket" not in lines.lower():
            lines = re.sub(r"(?i)\r\nconnection: [^\r]*", "", lines) + "Connection: close\r\n"
        if named:
            lines += f"X-Forwarded-Prefix: {PREFIX}\r\n"
        if not keep_host:
            lines = re.sub(r"(?i)\r\nhost: [^\r]*", f"\r\nHost: {host}:{port}", lines)
        return f"{lines}\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        asked.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")[:-2]
            if not head.split(" ", 2)[1].startswith(f"{PREFIX}/"):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return
            theirs, ours = await asyncio.open_connection(host, int(port))
            try:
                ours.write(passed_on(head).encode("latin-1"))
                await asyncio.gather(copy(reader, ours), copy(theirs, writer))
            finally:
                ours.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            asked.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{PREFIX}"
    finally:
        server.close()
        for task in list(asked):
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


LIVE = "document.getElementById('status').dataset.state === 'live'"


@pytest.mark.parametrize(
    "manner", [{}, {"named": True}, {"named": True, "strip": False}], ids=lambda each: str([*each])
)
async def test_the_whole_page_works_under_a_path(
    chromium: Any, hud_url: str, bus: Bus, episodes: FileStore, manner: dict[str, bool]
) -> None:
    async with _proxied(hud_url, **manner) as url:
        await chromium.open(f"{url}/")
        stage = Stage(bus, episodes)
        await stage.segments(3, exported=3, scored=3)
        await stage.progress()
        await chromium.wait_for("document.getElementById('status').dataset.state !== 'connecting'")
        for view in ("segments", "models", "map", "llm", "system", "review"):
            await chromium.visit(f"{PREFIX}/{view}")
            assert await chromium.evaluate("location.pathname") == f"{PREFIX}/{view}"
        await chromium.evaluate("history.back()")
        await chromium.wait_for("document.documentElement.dataset.page === 'system'")
        await chromium.visit(f"{PREFIX}/segments")
        link = "document.querySelector('#page a[href*=\"/segments/\"]')"
        await chromium.wait_for(f"{link} !== null")
        deep = await chromium.evaluate(f"{link}.pathname")
        assert deep.startswith(f"{PREFIX}/segments/")
        await chromium.evaluate(f"{link}.click()")
        await chromium.wait_for("document.documentElement.dataset.page === 'segment'")
        await chromium.open(f"{url}{deep.removeprefix(PREFIX)}")
        await chromium.wait_for("document.documentElement.dataset.page === 'segment'")
        await chromium.wait_for("document.getElementById('status').dataset.state !== 'connecting'")
        assert await chromium.evaluate("document.querySelector('#nav a').pathname") == f"{PREFIX}/"
        await chromium.visit(f"{PREFIX}/models")
        await chromium.open(f"{url}/docs")
        await chromium.wait_for("document.querySelectorAll('.opblock').length > 0")
        outside = [each for each in chromium.requested if PREFIX not in each]
        assert [each for each in outside if not each.startswith(("data:", "blob:"))] == []


async def test_a_page_whose_proxy_changes_the_host_says_what_to_set(
    chromium: Any, hud_url: str
) -> None:
    async with _proxied(hud_url, keep_host=False) as url:
        await chromium.open(f"{url}/")
        origin = url.removesuffix(PREFIX)
        await chromium.wait_for(
            "document.getElementById('banners').textContent.includes("
            f"'HUD_ALLOWED_ORIGINS=[\"{origin}\"]')"
        )
