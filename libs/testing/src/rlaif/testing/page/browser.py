"""A real browser over the Chrome DevTools Protocol.

It needs no driver: `websockets` connects to the browser. `make test` fetches a pinned Chromium into
the environment; without it, the browser on PATH is used.
"""

import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

FETCHED = Path(sys.prefix) / "page-tools/chromium/chromium"
"""Folder into which `services/hud/check_page.py` unpacks the browser."""

CHROMIUM_NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--remote-debugging-port=0",
)

Shoot = Callable[[str], Awaitable[None]]
"""Saves a picture of a page under a name."""


class Chromium:
    """A page of a browser."""

    def __init__(self, connection: ClientConnection, session: str) -> None:
        self._connection = connection
        self._session = session
        self._ids = itertools.count(100)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.requested: list[str] = []
        self.errors: list[str] = []
        self.logged: list[str] = []
        self.reader = asyncio.create_task(self._read())

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params, "sessionId": self._session}
        await self._connection.send(json.dumps(message))
        return await asyncio.wait_for(self._answers[number], PATIENCE_SECONDS)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; promises are awaited."""
        answer = await self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    async def wait_for(self, expression: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until a JavaScript expression is true; elements may be missing until then."""

        async def holds() -> bool:
            try:
                return bool(await self.evaluate(expression))
            except AssertionError as error:
                if "Cannot read properties of null" in str(error):
                    return False
                raise

        await eventually(holds, expression, seconds=seconds)

    async def open(self, url: str, width: int = 1440, height: int = 1100) -> None:
        """Load a page in a window of this size."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.command(f"{domain}.enable")
        await self.resize(width, height)
        await self.command("Page.navigate", url=url)
        await self.wait_for("document.readyState === 'complete'")
        # A page of the HUD is ready when its module is loaded, after the document.
        await self.wait_for(
            "!document.getElementById('page') || document.documentElement.dataset.page"
        )

    async def visit(self, address: str) -> None:
        """Go to a page of the HUD by its link in the navigation, also to the page that is shown."""
        link = f"document.querySelector('#nav a[href={json.dumps(address)}]')"
        # The link to the page that is shown is current before the page is mounted again.
        await self.evaluate("document.getElementById('page').firstElementChild.dataset.left = ''")
        await self.evaluate(f"{link}.click()")
        await self.wait_for(
            f"{link}.ariaCurrent === 'page' && document.querySelector('[data-left]') === null"
        )

    async def tab(self, name: str) -> None:
        """Choose a tab of the live page: training, rewards or pipeline."""
        await self.wait_for(f"document.querySelector('#tab-{name}') !== null")
        await self.evaluate(f"document.querySelector('#tab-{name}').click()")
        await self.wait_for("document.querySelector('#tab-panels > *') !== null")

    async def resize(self, width: int, height: int) -> None:
        """Set the size of the window in CSS pixels."""
        await self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 700,
        )

    async def press(self, key: str, text: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.command("Input.dispatchKeyEvent", type=kind, key=key, text=text)

    async def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Save the page, or its visible part, as PNG."""
        answer = await self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(answer["data"]))

    async def _read(self) -> None:
        async for text in self._connection:
            message = json.loads(text)
            if "id" in message:
                self._answer(message)
            else:
                self._note(message.get("method", ""), message.get("params", {}))

    def _answer(self, message: dict[str, Any]) -> None:
        answer = self._answers.pop(message["id"], None)
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(RuntimeError(message["error"]))
        else:
            answer.set_result(message["result"])

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requested.append(params["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.logged.append(" ".join(str(each.get("value", each)) for each in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])


def chromium_path() -> str | None:
    """Path of the fetched browser, or of this machine's; None if there is neither."""
    if os.access(FETCHED, os.X_OK):
        return str(FETCHED)
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@contextmanager
def running_chromium(path: str, profile: Path) -> Iterator[str]:
    """Run a browser; yield the URL of its protocol.

    Args:
        path: The browser's executable.
        profile: An empty folder for its profile.
    """
    process = subprocess.Popen(
        [path, *CHROMIUM_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _address(process, profile / "DevToolsActivePort")
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@asynccontextmanager
async def empty_page(address: str) -> AsyncIterator[Chromium]:
    """Open a page that shares nothing with other pages of the browser, and close it."""
    async with connect(address, max_size=None, proxy=None) as connection:
        context = (await _ask(connection, 1, "Target.createBrowserContext"))["browserContextId"]
        page = Chromium(connection, await _attach(connection, context))
        try:
            yield page
        finally:
            page.reader.cancel()
            await asyncio.gather(page.reader, return_exceptions=True)
            await _ask(connection, 4, "Target.disposeBrowserContext", browserContextId=context)


@asynccontextmanager
async def open_chromium(path: str, profile: Path) -> AsyncIterator[Chromium]:
    """Run a browser with one empty page; see `running_chromium`."""
    with running_chromium(path, profile) as address:
        async with empty_page(address) as page:
            yield page


def _address(process: subprocess.Popen[bytes], file: Path) -> str:
    """Read the port and path that a browser writes when it listens."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "Chromium ended before it listened"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    raise TimeoutError("Chromium does not listen")


async def _attach(connection: ClientConnection, context: str) -> str:
    """Open a page; return the id of its session."""
    opened = await _ask(
        connection, 2, "Target.createTarget", url="about:blank", browserContextId=context
    )
    target = opened["targetId"]
    attached = await _ask(connection, 3, "Target.attachToTarget", targetId=target, flatten=True)
    return str(attached["sessionId"])


async def _ask(connection: ClientConnection, id: int, method: str, **params: Any) -> Any:
    await connection.send(json.dumps({"id": id, "method": method, "params": params}))
    while (message := json.loads(await connection.recv())).get("id") != id:
        pass
    return message["result"]
