"""Seeded faults in the running local stack, and the outcome of every captured segment.

    python benchmarks/chaos.py --segments 2000 --seed 1     or: make chaos SEGMENTS=2000 SEED=1
    python benchmarks/chaos.py --minutes 120 --seed 1       or: make soak MINUTES=120 SEED=1

The real servers and services, two judges and the mock LLM, under the launcher's supervision; the
producer is the trainer's uploader with captures of random play, which the exporter replays. The
seed determines the faults (`rlaif.testing.chaos.plan`): SIGKILL, SIGSTOP, latency, black holes and
resets in front of each server, failing models, junk and repeated events, damaged and deleted
objects. A chaos run has a fault for every six segments, a soak one every 20 seconds. Segments have
30 emulator steps instead of 75, so that two cores replay them fast.

Once the stack is idle, these are counted from objects and streams:

    lost          segments without score and dead letter
    duplicates    segments with several scores, several events of one, or a score and a dead letter
    dead_healthy  segments with a dead letter although none of their objects was damaged

Then the damage is repaired as an operator would: captures and keyframes from a copy, the rest by
the doctor, and the dead letters are redriven. Afterwards every segment must have one score, and the
doctor must find nothing (`findings`). Memory is the proportional set size (PSS) of a service's
processes; its growth is the slope of a least-squares line through the samples.

Exit code 0 if all of these are 0, else 1. Faults, recovery times, deaths and samples are written to
results/chaos.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from outcome import HERE, finish, machine, parser_of

from rlaif.bus.errors import BusError
from rlaif.game.replay_check.segments import Play, RecordedSegment
from rlaif.local.doctor.__main__ import examine
from rlaif.local.doctor.facts import Facts, read_facts
from rlaif.local.doctor.findings import Report
from rlaif.testing.chaos.faults import Injected, Injector
from rlaif.testing.chaos.plan import fault_plan
from rlaif.testing.chaos.rig import SETTINGS, Rig, running
from rlaif.testing.chaos.verdict import Verdict, verdict
from rlaif.testing.data.random_play import recorded_play
from rlaif.testing.waiting import eventually

SEGMENTS_PER_FAULT = 6
SOAK_FAULT_SECONDS = 20.0
SEGMENTS_PER_SECOND = 1.0
"""Maximum of a soak run."""

WINDOW = 48
"""Maximum number of segments in progress."""

RECORDINGS = 400
"""Number of different segments; they are captured repeatedly under new ids."""

STEPS = 30
"""Emulator steps per segment."""

SAMPLE_SECONDS = 30.0
SAY_SECONDS = 10.0
REST_SECONDS = 900.0
until = partial(eventually, seconds=REST_SECONDS)
CALM = 5
"""Consecutive polls with nothing in progress after which the stack is idle."""


Results = tuple[dict[str, Any], dict[str, Any]]
"""Figures, and the raw data behind them."""


@dataclass
class Run:
    """Data collected by a run.

    Attributes:
        samples: Process → (seconds, PSS in MB, descriptors), its descendants included.
        at_rest: Whether the stack became idle in time, before and after the repairs.
    """

    rig: Rig
    injector: Injector
    samples: defaultdict[str, list[tuple[float, float, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    waiting: int | None = None
    at_rest: bool = True


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


async def measure(folder: Path, seed: int, segments: int, minutes: float) -> Results:
    """Run to the end; with `minutes`, the number of segments is ignored."""
    play = Play(segments=min(segments, RECORDINGS), steps=STEPS, seed=seed)
    recordings = recorded_play(play)
    say(f"{len(recordings)} segments of random play recorded")
    async with running(folder) as rig:
        run = Run(rig, Injector(rig, seed))
        watching = asyncio.create_task(watch(run))
        faulting = asyncio.create_task(inject(run, seed, segments, minutes))
        try:
            await capture(run, recordings, segments, minutes)
        except AssertionError as error:
            say(f"capturing ended: {error}")
            run.at_rest = False
        if minutes or not run.at_rest:
            faulting.cancel()
        await asyncio.gather(faulting, return_exceptions=True)
        say(f"{rig.seconds:.0f} s: all captured; waiting until the last faults are over")
        await run.injector.finish()
        faulted = rig.seconds
        await rest(run)
        before = verdict(await facts(run), rig.segments, run.injector.damaged)
        report = await repair(run)
        after = verdict(await facts(run), rig.segments, ())
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        found = figures(run, faulted, before, after, report)
        found["not_ready"] = [name for name in rig.children if not await rig.is_ready(name)]
        return found, raw(run)


async def capture(
    run: Run, recordings: list[RecordedSegment], segments: int, minutes: float
) -> None:
    """Capture until there are enough segments or, with `minutes`, until these are over."""
    began = time.monotonic()
    for recording in cycle(recordings):
        over = time.monotonic() - began > 60 * minutes
        if over if minutes else len(run.rig.segments) >= segments:
            return
        await until(lambda: run.waiting is not None and run.waiting < WINDOW, "few are under way")
        run.rig.capture(recording)
        run.waiting = (run.waiting or 0) + 1
        await asyncio.sleep(1 / SEGMENTS_PER_SECOND if minutes else 0.05)


async def inject(run: Run, seed: int, segments: int, minutes: float) -> None:
    """Inject faults up to the number; in a soak run, until cancelled."""
    wanted = -(-segments // SEGMENTS_PER_FAULT)
    began = time.monotonic()
    for index, fault in enumerate(fault_plan(seed)):
        if not minutes and len(run.injector.done) >= wanted:
            return
        if minutes:
            await asyncio.sleep(began + index * SOAK_FAULT_SECONDS - time.monotonic())
        else:
            due = min(len(run.injector.done) * SEGMENTS_PER_FAULT, segments - 1)
            await until(partial(is_captured, run.rig, due), "the next fault is due")
        await run.injector.inject(fault)


def is_captured(rig: Rig, number: int) -> bool:
    return len(rig.segments) > number


async def watch(run: Run) -> None:
    """Update `run.waiting`, take samples and report until cancelled."""
    sampled = said = -1e9
    while True:
        try:
            run.waiting = await run.rig.waiting()
        except BusError:
            run.waiting = None
        now = run.rig.seconds
        if now - sampled > SAMPLE_SECONDS:
            sampled = now
            sample(run)
        if now - said > SAY_SECONDS:
            said = now
            last = run.injector.done[-1].fault.name if run.injector.done else "none"
            say(
                f"{now:.0f} s: {len(run.rig.segments)} captured, {run.waiting} under way, "
                f"{len(run.injector.done)} faults, the last {last}; {len(run.rig.deaths)} deaths"
            )
        await asyncio.sleep(0.5)


def sample(run: Run) -> None:
    """Read memory and descriptors of every process."""
    for name in run.rig.children:
        pss, descriptors = 0.0, 0
        for pid in run.rig.tree(name):
            with suppress(OSError):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                pss += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
                descriptors += len(os.listdir(f"/proc/{pid}/fd"))
        if descriptors:
            run.samples[name].append((round(run.rig.seconds), round(pss / 1000, 1), descriptors))


async def rest(run: Run) -> None:
    """Wait until nothing is in progress."""
    calm, deadline = 0, time.monotonic() + REST_SECONDS
    while calm < CALM:
        calm = calm + 1 if await waiting(run) == 0 else 0
        if time.monotonic() > deadline:
            run.at_rest = False
            say(f"{run.waiting} segments are still under way after {REST_SECONDS:.0f} s")
            return
        await asyncio.sleep(1)


async def waiting(run: Run) -> int | None:
    with suppress(BusError):
        return await run.rig.waiting()
    return None


async def facts(run: Run) -> Facts:
    return await read_facts(run.rig.system.bus, run.rig.system.episodes)


async def repair(run: Run) -> Report:
    """Repair the damage and redrive the dead letters; return the doctor's findings afterwards."""
    system, root = run.rig.system, run.rig.stack.trainer_dir.parent
    for key, good in run.injector.backups.items():
        if key.startswith(("captures/", "keyframes/")):
            await asyncio.to_thread(system.episodes.put, key, good)
    await examine(system, root, scrub=True, repairs=True)
    await rest(run)
    for letter in await system.bus.dead_letters():
        if isinstance(letter.data.original, dict) and "data" in letter.data.original:
            await system.bus.redrive(letter.data.event_id)
    await rest(run)
    return await examine(system, root, scrub=True, repairs=False)


def figures(
    run: Run, produced: float, before: Verdict, after: Verdict, report: Report
) -> dict[str, Any]:
    injector = run.injector
    return {
        "segments": len(run.rig.segments),
        "faults": len(injector.done),
        "lost": len(before.lost) + len(after.unscored),
        "duplicates": len(before.duplicates) + len(after.duplicates),
        "dead_healthy": len(before.dead_healthy),
        "findings": len(report.findings),
        "seed": injector.seed,
        "at_rest": run.at_rest,
        "dead_damaged": len(before.unscored) - len(before.lost) - len(before.dead_healthy),
        "damaged": len(injector.damaged),
        "skipped_faults": injector.skipped,
        "faulted_seconds": round(produced),
        "seconds": round(run.rig.seconds),
        "recovery_seconds": recoveries(injector.done),
        "growth": growth(run),
        "failed": {
            "lost": [*before.lost, *after.unscored],
            "duplicates": [*before.duplicates, *after.duplicates],
            "dead_healthy": list(before.dead_healthy),
            "findings": [f"{each.code}: {each.text}" for each in report.findings],
        },
    }


def raw(run: Run) -> dict[str, Any]:
    """Every fault, every process that ended, and every sample."""
    return {
        "injected": [
            {"at": each.at, "recovery": each.recovery} | asdict(each.fault)
            for each in run.injector.done
        ],
        "deaths": run.rig.deaths,
        "samples": run.samples,
    }


def recoveries(done: list[Injected]) -> dict[str, dict[str, float | int]]:
    """Kind of fault → count, and median and longest recovery."""
    found: defaultdict[str, list[float | None]] = defaultdict(list)
    for each in done:
        found[each.fault.name].append(each.recovery)
    rows: dict[str, dict[str, float | int]] = {}
    for name, all_of_it in sorted(found.items()):
        known = [seconds for seconds in all_of_it if seconds is not None]
        rows[name] = {"count": len(all_of_it)}
        if known:
            rows[name] |= {"median": round(median(known), 1), "max": max(known)}
            rows[name]["unrecovered"] = len(all_of_it) - len(known)
    return rows


def growth(run: Run) -> dict[str, dict[str, float]]:
    """Process → PSS and descriptors: median, and growth per hour as a share of it.

    This includes restarts: a killed process starts small again.
    """
    rows = {}
    for name, samples in run.samples.items():
        hours, pss, descriptors = np.array(samples, dtype=float).T / [[3600.0], [1.0], [1.0]]
        if len(samples) < 3:
            continue
        rows[name] = {
            "pss_mb": round(float(np.median(pss)), 1),
            "pss_growth_per_hour": share_per_hour(hours, pss),
            "descriptors": float(np.median(descriptors)),
            "descriptors_growth_per_hour": share_per_hour(hours, descriptors),
        }
    return rows


def share_per_hour(hours: Any, values: Any) -> float:
    slope = float(np.polyfit(hours, values, 1)[0])
    return round(slope / float(np.median(values)), 3)


def keep(results: dict[str, Any], out: Path) -> None:
    """Write them, one field per line."""
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in results.items())
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--segments", type=int, default=200, help="captured segments of a chaos run (200)")
    add("--minutes", type=float, default=0.0, help="length of a soak instead")
    add("--seed", type=int, default=1, help="of play and faults (1)")
    add("--data-dir", type=Path, help="empty folder to run in, which is kept")
    options = parser.parse_args()
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        folder = (options.data_dir or Path(temporary)).absolute()
        found, raw_data = asyncio.run(
            measure(folder, options.seed, options.segments, options.minutes)
        )
    name = "soak" if options.minutes else f"{options.segments}-segments"
    keep(
        {"machine": machine()} | found | raw_data,
        HERE / f"results/chaos/{name}-seed-{options.seed}.json",
    )
    bad = ("lost", "duplicates", "dead_healthy", "findings")
    met = found["at_rest"] and not any(found[each] for each in bad)
    return finish(found, met=met)


if __name__ == "__main__":
    sys.exit(main())
