"""The HUD as its own process, as it is deployed."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

OpenPage = Callable[..., AbstractAsyncContextManager[Any]]


async def test_sigterm_ends_the_process_while_pages_are_open(
    bus: Bus, nats_url: str, tmp_path: Path, open_page: OpenPage
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rlaif.hud", "--port", "0",
        env=os.environ | {"NATS_URL": nats_url, "EPISODES_STORE": f"file://{tmp_path}/episodes"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = await _address(process.stdout)
        async with open_page(url) as reading, open_page(url, acknowledge=False) as silent:
            await eventually(lambda: reading.messages and silent.messages, "both are served")
            silent.reader.cancel()
            process.send_signal(signal.SIGTERM)
            await process.stdout.read()
            assert await asyncio.wait_for(process.wait(), PATIENCE_SECONDS) == 0
            assert reading.connection.close_code == 1012
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(output: asyncio.StreamReader) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while line := await output.readline():
            entry = json.loads(line)
            if "port" in entry:
                return f"http://127.0.0.1:{entry['port']}"
    raise AssertionError("the HUD did not say where it listens")
