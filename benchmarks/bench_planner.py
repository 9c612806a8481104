"""Cost to the training of a planner whose calls are slow or hang.

    python benchmarks/bench_planner.py            or: make bench-planner

Four training runs with equal settings (default PPO preset at a learning rate of almost 0, 2
runners of 8 environments) take turns (turns.py): off, slow, hanging, again, again, hanging, …

    off       no planner
    again     the same: its difference from `off` is the error of the measurement
    slow      a planner whose every call takes 2 s, with takeovers and guidance by default
    hanging   a planner whose every call takes 60 s, so that plans and suggestions time out

The language models are idle processes (slow_llm.py), as if they ran on other machines. The
planner's steps count as steps. Two equal runs differ by 1 or 2 % for as long as their processes
live, so all are started several times with other seeds, and each start counts once.

    kept_slow, kept_hanging   steps per second / the mean of off's and again's: median over the
                              rounds of a start, geometric mean over the starts
    cpu_slow, cpu_hanging     CPU seconds per step of off and again / that run's
    kept_again, cpu_again     again / off

Exit code 0 if the lower ends of the intervals of both kept ratios are at least 0.97, and the models
were called and, if they answer, took over, else 1.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from outcome import ENVS, WORKERS, interval, print_round
from turns import ALIKE, OFF, Side, run_command, training

from rlaif.testing.servers.nats_server import free_ports

TARGET = 0.97
SECONDS = {"slow": 2.0, "hanging": 60.0}
SIDES = ("off", *SECONDS, "again")
SETTINGS = ALIKE | OFF


@asynccontextmanager
async def language_model(seconds: float) -> AsyncIterator[str]:
    """Run a model of slow_llm.py in a separate process; yields its address."""
    (port,) = free_ports(1)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("slow_llm.py")),
        "--seconds", str(seconds), "--port", str(port),
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def compare(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    starts = [
        await one_start(number, options, directory / str(number))
        for number in range(options.starts)
    ]
    return summary(starts, options)


async def one_start(
    number: int, options: argparse.Namespace, directory: Path
) -> tuple[list[dict[str, float]], dict[str, dict[str, Any]]]:
    """Start new processes of all runs; return the rounds, and the counts of the language models."""
    async with AsyncExitStack() as stack:
        sides = []
        for name in SIDES:
            settings = SETTINGS | {"seed": number}
            if name in SECONDS:
                address = await stack.enter_async_context(language_model(SECONDS[name]))
                settings |= {"planner_base_url": address}
            side = await stack.enter_async_context(training(directory, name, settings))
            await side.halt()
            sides.append(side)
        rows = [await one_round(number, turn, sides, options) for turn in range(options.rounds)]
        return rows, {side.name: helped(side) for side in sides if side.name in SECONDS}


async def one_round(
    start: int, number: int, sides: list[Side], options: argparse.Namespace
) -> dict[str, float]:
    """Run a turn of each; the order alternates."""
    found = {}
    for side in sides if number % 2 == 0 else reversed(sides):
        found[side.name] = await side.turn(options.iterations)
    rate = {name: each["rate"] for name, each in found.items()}
    cpu = {name: each["cpu_a_step"] for name, each in found.items()}
    row = {
        **rate,
        "kept_again": rate["again"] / rate["off"],
        "cpu_again": cpu["off"] / cpu["again"],
    }
    for name in SECONDS:
        row[f"kept_{name}"] = 2 * rate[name] / (rate["off"] + rate["again"])
        row[f"cpu_{name}"] = (cpu["off"] + cpu["again"]) / 2 / cpu[name]
    print_round(f"start {start + 1}, round {number + 1}", row)
    return row


def helped(side: Side) -> dict[str, Any]:
    """Counts of the language model over a whole run."""
    assert side.last is not None
    assert side.last.assistance is not None, f"{side.name} has no planner"
    modes = side.last.assistance.of_run
    outcomes: dict[str, int] = {}
    for figures in modes.values():
        for outcome, times in figures.calls.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + times
    return {
        "calls": outcomes,
        "not_asked": sum(sum(each.not_asked.values()) for each in modes.values()),
        "seconds_a_call": round(
            sum(each.seconds for each in modes.values())
            / max(1, sum(each.timed for each in modes.values())),
            2,
        ),
        "takeovers": sum(sum(each.takeovers.values()) for each in modes.values()),
        "planner_steps": sum(each.planner_steps for each in modes.values()),
        "suggestions": sum(each.suggestions.get("given", 0) for each in modes.values()),
        "env_steps": side.last.env_steps,
    }


def summary(
    starts: list[tuple[list[dict[str, float]], dict[str, dict[str, Any]]]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    started = [models for _, models in starts]
    was_asked = all(
        models["slow"]["planner_steps"] > 0
        and models["slow"]["suggestions"] > 0
        and models["slow"]["seconds_a_call"] >= SECONDS["slow"]
        and models["hanging"]["calls"].get("timeout", 0) > 0
        for models in started
    )
    keys = [f"{kind}_{name}" for kind in ("kept", "cpu") for name in ("again", *SECONDS)]
    of_starts = {key: [median(row[key] for row in rows) for rows, _ in starts] for key in keys}
    means = {key: geometric_mean(values) for key, values in of_starts.items()}
    intervals = {key: interval(values, geometric_mean) for key, values in of_starts.items()}
    return {
        "benchmark": "bench_planner",
        **{key: round(value, 4) for key, value in means.items()},
        **{f"{key}_interval": each for key, each in intervals.items()},
        "target": TARGET,
        "target_met": was_asked and min(intervals[f"kept_{name}"][0] for name in SECONDS) >= TARGET,
        "was_asked": was_asked,
        "of_starts": {key: [round(each, 4) for each in of_starts[key]] for key in keys},
        "decisions_per_second": {
            name: round(median(row[name] for rows, _ in starts for row in rows)) for name in SIDES
        },
        "models": started,
        "starts": options.starts,
        "rounds_a_start": options.rounds,
        "iterations": options.iterations,
        "setup": {"runners": WORKERS, "envs_per_runner": ENVS, "frame_skip": 4},
    }


if __name__ == "__main__":
    sys.exit(run_command(__doc__, compare, starts=6, rounds=4))
