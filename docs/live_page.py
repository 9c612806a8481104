"""Checks in a browser that the numbers on a running HUD's page agree, and takes pictures of it.

    make demo                                       in one terminal, for five minutes
    python docs/live_page.py http://127.0.0.1:8086  in another; writes docs/live-page.png
    … --pages docs/pages                            and pictures of all pages, in light and dark

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
from PIL import Image

from rlaif.service.peers import peer_client
from rlaif.testing.page.browser import Chromium, chromium_path, open_chromium
from rlaif.testing.page.figures import (
    APART,
    FIGURES,
    UNNAMED,
    contradictions,
    differing,
    documents_of,
    impossible,
)

PICTURE = Path(__file__).resolve().parent / "live-page.png"
WIDTH, HEIGHT = 1440, 1500
"""Pixels, down to the tables; below is text."""

MOMENTS = 60
"""REST answers compared with the page: the last 6 s. The page is updated twice per second, later
on a busy machine."""

APART_MOMENTS = 25
"""The same for sections that a page polls (model loads every 15 s), at intervals of 1 s."""

DESK, PHONE = (1440, 1100), (390, 844)

LOOKS = {
    "live": ((DESK, "dark"), (DESK, "light"), (PHONE, "dark"), (PHONE, "light")),
    "": ((DESK, "dark"), (PHONE, "light")),
}
"""Size and theme of each picture of a page; the others' are under ""."""

PALETTE = 192
"""Colours of a picture: the pages have few, and the files stay small."""

UNSHARED = httpx.Limits(max_keepalive_connections=0)
"""A connection that is seldom used may just be closed by the server when it is used again."""

TELLING = """document.querySelectorAll('#verdict .pictures img').length > 3
    && Number(document.querySelector('#verdict .big')?.textContent) > 0"""
"""A verdict that shows something; waited for before the picture is taken."""

SETTLING = 1.5
"""Seconds for what a page asks for when it is opened."""

CALM = "document.querySelector('#status').dataset.state === 'live'"


async def ask(client: httpx.AsyncClient, states: deque[Any]) -> None:
    """Note what the REST interface says now."""
    states.append((await client.get("/api/v1/state")).json())


async def sample(client: httpx.AsyncClient, states: deque[Any]) -> None:
    """Keep its newest answers."""
    while True:
        await ask(client, states)
        await asyncio.sleep(0.1)


async def ask_apart(client: httpx.AsyncClient, answers: deque[Any]) -> None:
    """Note what it says now beside the state."""
    answers.append({name: (await client.get(path)).json() for name, path in APART.items()})


async def sample_apart(client: httpx.AsyncClient, answers: deque[Any]) -> None:
    """Keep the newest of these."""
    while True:
        await ask_apart(client, answers)
        await asyncio.sleep(1)


async def compare(
    page: Chromium,
    client: httpx.AsyncClient,
    states: deque[Any],
    apart: deque[Any],
    documents: deque[dict[str, Any]],
) -> tuple[int, list[str]]:
    """(numbers read, what is wrong) of the page as it stands."""
    figures = await page.evaluate(FIGURES)
    await ask(client, states)  # the page may be newer than the last answer
    await ask_apart(client, apart)
    documents.append({path: (await client.get(path)).json() for path in documents_of(figures)})
    # A number may be that of an older document: the page polls them less often than the state.
    wrong = set.intersection(
        *(set(contradictions(figures, *states, *apart, documents=each)) for each in documents)
    )
    unnamed = await page.evaluate(UNNAMED)
    return len(figures), [*sorted(wrong), *differing(figures), *unnamed, *impossible(states[-1])]


async def addresses(client: httpx.AsyncClient) -> dict[str, str]:
    """Name and address of each page that there is something to show on."""
    state = (await client.get("/api/v1/state")).json()
    found = {"live": "/", "segments": "/segments"}
    scored = [row for row in state["segments"] if row["score"] is not None]
    if scored:
        found["segment"] = "/segments/{episode_id}/{segment_id}".format_map(scored[0])
    found |= {"review": "/review", "models": "/models"}
    if state["reward_models"]["champion"]:
        found["model"] = f"/models/{state['reward_models']['champion']['version']}"
    return found | {"map": "/map", "llm": "/llm", "system": "/system"}


async def photograph(page: Chromium, url: str, pages: dict[str, str], folder: Path) -> None:
    """Take a picture of every page, as a window shows it, in each of its looks."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    for name, address in pages.items():
        for (width, height), theme in LOOKS.get(name, LOOKS[""]):
            await page.open(url + address, width, height)
            await page.evaluate(f"document.documentElement.dataset.theme = {theme!r}; 0")
            with suppress(AssertionError):  # then it is as it is
                await page.wait_for(CALM, seconds=10)
            await asyncio.sleep(SETTLING)
            size = "desk" if width == DESK[0] else "phone"
            path = folder / f"{name}.{size}.{theme}.png"
            await page.screenshot(path, whole=False)
            await asyncio.to_thread(shrink, path)


def shrink(path: Path) -> None:
    """Give a picture few colours, so that its file is small."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


async def watch(url: str, seconds: float, picture: Path, folder: Path | None) -> int:
    """Compare for a while, then take the pictures; gives the exit code."""
    path = chromium_path()
    if path is None:
        print("no Chromium on PATH; apt-get install chromium", file=sys.stderr)  # noqa: T201  # a script
        return 1
    with tempfile.TemporaryDirectory() as profile:
        async with (
            peer_client(url, base_url=url, timeout=10, limits=UNSHARED) as client,
            open_chromium(path, Path(profile)) as page,
        ):
            await page.open(url, WIDTH, HEIGHT)
            await page.wait_for(CALM, seconds=30)
            states: deque[Any] = deque(maxlen=MOMENTS)
            apart: deque[Any] = deque(maxlen=APART_MOMENTS)
            documents: deque[dict[str, Any]] = deque(maxlen=APART_MOMENTS)
            sampling = asyncio.gather(sample(client, states), sample_apart(client, apart))
            compared = numbers = 0
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                await asyncio.sleep(1)
                if sampling.done():
                    sampling.result()  # raises what ended it
                numbers, wrong = await compare(page, client, states, apart, documents)
                if wrong:
                    print("\n".join(wrong), file=sys.stderr)  # noqa: T201  # a script
                    return 1
                compared += 1
            sampling.cancel()
            await asyncio.gather(sampling, return_exceptions=True)
            with suppress(AssertionError):  # then it is as it is
                await page.wait_for(TELLING, seconds=60)
            await page.screenshot(picture, whole=False)
            if folder is not None:
                await photograph(page, url, await addresses(client), folder)
    print(f"{compared} times {numbers} numbers, no contradiction; wrote {picture}")  # noqa: T201  # a script
    return 0


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="address of the HUD, such as http://127.0.0.1:8086")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to compare (30)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to write it")
    parser.add_argument("--pages", type=Path, help="folder for a picture of every page (none)")
    options = parser.parse_args()
    return asyncio.run(watch(options.url, options.seconds, options.picture, options.pages))


if __name__ == "__main__":
    sys.exit(main())
