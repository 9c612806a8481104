"""The HUD under 20 pages, and one page on a running demo.

    python benchmarks/bench_hud.py                   or: make bench-hud
    python benchmarks/bench_hud.py --rounds 2 --minutes 1

First part: one training (default PPO preset, 2 runners of 8 environments, feedback loop on) with a
real nats-server and a real HUD on one machine. The pages (hud_pages.py) connect for some iterations
and disconnect again; one of them requests everything but reads nothing. The first two iterations
after each change are not timed.

    frames_lost      share of the frames that a connected healthy page did not receive
    age_p95_ms       95th percentile of the age of a frame when a healthy page receives it, since
                     its capture; drawing is not included
    throughput_kept  median over the rounds of steps per second with the pages / the geometric mean
                     of those before and after; throughput_kept_interval: its 95 %
                     bootstrap interval; its lower end is compared with the target

Second part: the pipeline of `make demo`, from its start, for `--minutes`.

    text_kb_s        text that one page receives, compressed, in kB per second, from the tenth score
                     on; includes the initial snapshot

Exit code 0 if all targets are met, else 1; a target without a measurement is not met.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from bench_overhead import loop_on
from hud_pages import Page
from loop_latency import READY, READY_SECONDS
from outcome import begin, finish, interval, parser_of, print_round, say
from turns import until

from rlaif.testing.data.events import segment_captured
from rlaif.testing.pipeline import Pipeline
from rlaif.testing.servers.nats_server import NatsServer, free_ports

PAGES, STALLED = 20, 1
TARGETS = {
    "frames_lost": 0.01,
    "age_p95_ms": 250,
    "throughput_kept": 0.98,
    "text_kb_s": 10.0,
    "frames_per_second": 15.0,
}
LOWER_BOUNDS = {"throughput_kept", "frames_per_second"}
UNTIMED = 2
KEPT_SEGMENTS = 2_300
"""More segments than `SegmentTable` keeps and its journal has lines."""
SCORED = 10


@dataclass
class Seen:
    """Counts of all pages, summed over their turns."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    ages: Counter[int] = field(default_factory=Counter)

    def take(self, found: dict[str, Any]) -> None:
        self.ages.update(dict(found.pop("ages")))
        self.turns.append(found)

    def total(self, name: str) -> float:
        return float(sum(turn[name] for turn in self.turns))


@asynccontextmanager
async def pages_open(port: int, seen: Seen) -> AsyncIterator[None]:
    """`PAGES` pages, `STALLED` of them stalled."""
    program = Path(__file__).with_name("hud_pages.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(port), "--pages", str(PAGES), "--stalled", str(STALLED),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    if await process.stdout.readline() != b"open\n":
        raise RuntimeError("the pages could not be opened")
    try:
        yield
    finally:
        process.stdin.close()
        said = await process.stdout.read()
        await process.wait()
    seen.take(json.loads(said))


async def many_pages(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    (directory / "nats").mkdir()
    nats, seen = NatsServer(directory / "nats"), Seen()
    nats.start()
    rows: list[dict[str, float]] = []
    try:
        past = (segment_captured(f"past-{number}") for number in range(KEPT_SEGMENTS))
        async with loop_on(directory, nats, "train", past) as (side, port):
            before = await side.timed(options.iterations, untimed=UNTIMED)
            for number in range(options.rounds):
                async with pages_open(port, seen):
                    during = await side.timed(options.iterations, untimed=UNTIMED)
                after = await side.timed(options.iterations, untimed=UNTIMED)
                rows.append(round_of(before, during, after))
                print_round(f"round {number + 1}", rows[-1])
                before = after
    finally:
        nats.stop()
    return figures(rows, seen)


def round_of(
    before: dict[str, float], during: dict[str, float], after: dict[str, float]
) -> dict[str, float]:
    without = sqrt(before["rate"] * after["rate"])
    return {
        "without": without,
        "with": during["rate"],
        "frames_with": during["frames_rate"],
        "kept": during["rate"] / without,
    }


def figures(rows: list[dict[str, float]], seen: Seen) -> dict[str, Any]:
    expected, received = seen.total("expected"), seen.total("received")
    kept = [row["kept"] for row in rows]
    return {
        "frames_lost": round(1 - received / expected, 6) if expected else None,
        "age_p95_ms": at_share(seen.ages, 0.95),
        "throughput_kept": round(median(kept), 4),
        "throughput_kept_interval": interval(kept),
        "frames_per_second": round(expected / seen.total("seconds"), 2),
        "frames_expected": expected,
        "pages_dropped": seen.total("dropped"),
        "decisions_per_second": [
            round(median(row["without"] for row in rows)),
            round(median(row["with"] for row in rows)),
        ],
        "trained_frames_per_second": round(median(row["frames_with"] for row in rows)),
        "rounds": len(rows),
    }


def at_share(ages: Counter[int], share: float) -> int | None:
    """The age that the given share of the frames does not exceed."""
    left = share * ages.total()
    for age, count in sorted(ages.items()):
        left -= count
        if left <= 0:
            return age
    return None


async def one_page(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """Measure the text that one page receives from the pipeline of the demo."""
    pipeline = Pipeline(directory, "--hud-port", str(free_ports(1)[0]))
    try:
        await asyncio.to_thread(pipeline.wait_for, READY, seconds=READY_SECONDS)
        url = pipeline.where("hud")
        await until(lambda: is_scoring(pipeline), "segments are scored")
        page = Page(int(url.rsplit(":", 1)[1]), fps=0)
        await page.connect()
        began, before = time.monotonic(), 0.0
        for minute in range(options.minutes):
            await asyncio.sleep(60)
            kilobytes = page.text_bytes / 1000
            say(f"minute {minute + 1}: {(kilobytes - before) / 60:.2f} kB/s of text")
            before = kilobytes
        seconds = time.monotonic() - began
        page.close()
        return {
            "text_kb_s": round(page.text_bytes / 1000 / seconds, 3),
        }
    finally:
        await asyncio.to_thread(pipeline.end)


def is_scoring(pipeline: Pipeline) -> bool:
    """Whether segments have been scored, so that the page has content."""
    with suppress(httpx.HTTPError):
        return (pipeline.get("hud", "state").json()["loop"]["scored"] or 0) >= SCORED
    return False


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=16, help="times that the pages come (16)")
    add("--iterations", type=int, default=3, help="of 1,024 decisions timed each time (3)")
    add("--minutes", type=int, default=2, help="minutes of one page on the pipeline (2)")
    options = parser.parse_args()
    begin()
    found: dict[str, Any] = {"benchmark": "bench_hud"}
    for part in (many_pages, one_page):
        with tempfile.TemporaryDirectory(prefix="hud-", ignore_cleanup_errors=True) as directory:
            found |= asyncio.run(part(options, Path(directory)))
    found["targets"] = TARGETS
    low = {"throughput_kept": found["throughput_kept_interval"][0]}
    found["target_met"] = all(met(name, (found | low).get(name)) for name in TARGETS)
    found["pages"] = {"open": PAGES, "stalled": STALLED}
    return finish(found, met=found["target_met"])


def met(name: str, value: float | None) -> bool:
    if value is None:
        return False
    return value >= TARGETS[name] if name in LOWER_BOUNDS else value <= TARGETS[name]


if __name__ == "__main__":
    sys.exit(main())
