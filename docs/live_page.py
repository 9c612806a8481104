"""Reads a running HUD's page in a browser: do its numbers agree, and what does it look like?

    make demo                                       in one terminal, for five minutes
    python docs/live_page.py http://127.0.0.1:8086  in another; writes docs/live-page.png

Exit code 1 when a number on the page contradicts another one or the REST interface; the picture is
then not written. Needs Chromium on PATH.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from rlaif.testing.browser import Chromium, chromium_path, open_chromium
from rlaif.testing.figures import FIGURES, UNNAMED, contradictions, differing, impossible

PICTURE = Path(__file__).resolve().parent / "live-page.png"
WIDTH, HEIGHT = 1440, 1500
"""Pixels: down to the tables; what is below is words."""

MOMENTS = 24
"""Answers of REST that the page is held against: the last 2.4 s. It is told twice a second."""

UNSHARED = httpx.Limits(max_keepalive_connections=0)
"""A connection that is seldom used may just be closed by the server when it is used again."""

TELLING = """document.querySelectorAll('#verdict .pictures img').length > 3
    && Number(document.querySelector('#verdict .big')?.textContent) > 0"""
"""A verdict that shows something; waited for before the picture is taken."""

CALM = "document.querySelector('#status').dataset.state === 'live'"


async def ask(client: httpx.AsyncClient, states: deque[Any]) -> None:
    """Note what the REST interface says now."""
    states.append((await client.get("/api/v1/state")).json())


async def sample(client: httpx.AsyncClient, states: deque[Any]) -> None:
    """Keep its newest answers."""
    while True:
        await ask(client, states)
        await asyncio.sleep(0.1)


async def compare(
    page: Chromium, client: httpx.AsyncClient, states: deque[Any]
) -> tuple[int, list[str]]:
    """(numbers read, what is wrong) of the page as it stands."""
    figures = await page.evaluate(FIGURES)
    await ask(client, states)  # the page may be newer than the last answer
    wrong = contradictions(figures, *states)
    wrong += [*differing(figures), *await page.evaluate(UNNAMED)]
    return len(figures), wrong + impossible(states[-1])


async def watch(url: str, seconds: float, picture: Path) -> int:
    """Compare for a while, then take the picture; gives the exit code."""
    path = chromium_path()
    if path is None:
        print("no Chromium on PATH; apt-get install chromium", file=sys.stderr)  # noqa: T201  # a script
        return 1
    with tempfile.TemporaryDirectory() as profile:
        async with (
            httpx.AsyncClient(base_url=url, timeout=10, limits=UNSHARED) as client,
            open_chromium(path, Path(profile)) as page,
        ):
            await page.open(url, WIDTH, HEIGHT)
            await page.wait_for(CALM, seconds=30)
            states: deque[Any] = deque(maxlen=MOMENTS)
            sampling = asyncio.create_task(sample(client, states))
            compared = numbers = 0
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                await asyncio.sleep(1)
                if sampling.done():
                    sampling.result()  # raises what ended it
                numbers, wrong = await compare(page, client, states)
                if wrong:
                    print("\n".join(wrong), file=sys.stderr)  # noqa: T201  # a script
                    return 1
                compared += 1
            sampling.cancel()
            with suppress(AssertionError):  # then it is as it is
                await page.wait_for(TELLING, seconds=60)
            await page.screenshot(picture, whole=False)
    print(f"{compared} times {numbers} numbers, no contradiction; wrote {picture}")  # noqa: T201  # a script
    return 0


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="address of the HUD, such as http://127.0.0.1:8086")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to compare (30)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to write it")
    options = parser.parse_args()
    return asyncio.run(watch(options.url, options.seconds, options.picture))


if __name__ == "__main__":
    sys.exit(main())
