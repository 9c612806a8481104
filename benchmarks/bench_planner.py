"""What does a slow, or a hanging, language model cost the training that it helps?

    python benchmarks/bench_planner.py            or: make bench-planner

Three training runs with equal settings (default PPO preset at a learning rate of almost 0, 2
runners of 8 environments, exploration, explicit rewards) are alive all the time and take turns, as
turns.py says: off, slow, hanging, hanging, slow, off, …

    off       no planner: PLANNER_BASE_URL is not set
    slow      a planner whose every call takes 2 s: takeovers and guidance as they are by default
    hanging   a planner whose every call takes 60 s: plans and text suggestions end at their
              deadline of 30 and 15 s, suggestions by picture at theirs of 60 s

The language models are processes of their own that think of nothing (slow_llm.py), as if they ran
on other machines. What the planner costs is in the runs: looking for texts and puzzles, briefing
the model, drawing pictures, sockets, threads, carrying plans out, leaving the planner's steps out
of what is learned. The planner's steps count as steps: they are played.

    kept_slow, kept_hanging   median over the rounds of that run's steps a second / off's
    cpu_slow, cpu_hanging     median of off's CPU seconds a step / that run's, of all of its
                              processes: the same without what else the machine does meanwhile

Prints a line for each round, then one line of JSON. Exit code 0 when both kept ratios are at least
0.97 and the language models were really asked and, where they answer, really took over, else 1.
"""

import argparse
import asyncio
import os
import platform
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

from turns import NEVER_MINUTES, Side, run_command, training

TARGET = 0.97
WORKERS, ENVS = 2, 8
SECONDS = {"slow": 2.0, "hanging": 60.0}
SETTINGS: dict[str, Any] = {
    "ray_workers": WORKERS,
    "envs_per_worker": ENVS,
    "run_hours": 1_000,
    "epoch_steps": 1_000_000_000,
    "watch_fps": 0,
    "captures_per_minute": 0,
    "checkpoint_minutes": NEVER_MINUTES,
    # What is played decides how fast it is: policies that learn apart differ by a tenth in their
    # steps a second. So all keep the policy that they begin with; the update is made all the same.
    "learning_rate": 1e-12,
}


@asynccontextmanager
async def language_model(seconds: float) -> AsyncIterator[str]:
    """A model of slow_llm.py in a process of its own; gives its address."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("slow_llm.py")),
        "--seconds", str(seconds), "--port", str(port),
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


async def compare(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        sides = [await stack.enter_async_context(training(directory, "off", SETTINGS))]
        await sides[0].halt()
        for name, seconds in SECONDS.items():
            address = await stack.enter_async_context(language_model(seconds))
            settings = SETTINGS | {"planner_base_url": address}
            side = await stack.enter_async_context(training(directory, name, settings))
            await side.halt()
            sides.append(side)
        rows = [await one_round(number, sides, options) for number in range(options.rounds)]
        return summary(rows, {side.name: side for side in sides}, options)


async def one_round(
    number: int, sides: list[Side], options: argparse.Namespace
) -> dict[str, float]:
    """A turn of each; the order is turned round each time."""
    found = {}
    for side in sides if number % 2 == 0 else reversed(sides):
        found[side.name] = await side.turn(options.iterations)
    row = {"off": found["off"]["rate"]}
    for name in SECONDS:
        row[name] = found[name]["rate"]
        row[f"kept_{name}"] = found[name]["rate"] / found["off"]["rate"]
        row[f"cpu_{name}"] = found["off"]["cpu_a_step"] / found[name]["cpu_a_step"]
    print(
        f"round {number + 1}: " + ", ".join(f"{key} {value:.4g}" for key, value in row.items()),
        flush=True,
    )
    return row


def helped(side: Side) -> dict[str, Any]:
    """What the language model did in a run, over all of it."""
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
    rows: list[dict[str, float]], sides: dict[str, Side], options: argparse.Namespace
) -> dict[str, Any]:
    off = sides["off"].last
    assert off is not None
    told = {name: helped(sides[name]) for name in SECONDS}
    was_asked = (
        off.assistance is None
        and told["slow"]["planner_steps"] > 0
        and told["slow"]["suggestions"] > 0
        and told["slow"]["seconds_a_call"] >= SECONDS["slow"]
        and told["hanging"]["calls"].get("timeout", 0) > 0
    )
    kept = {name: median(row[f"kept_{name}"] for row in rows) for name in SECONDS}
    return {
        "benchmark": "bench_planner",
        **{f"kept_{name}": round(value, 4) for name, value in kept.items()},
        **{f"cpu_{name}": round(median(row[f"cpu_{name}"] for row in rows), 4) for name in SECONDS},
        "target": TARGET,
        "target_met": min(kept.values()) >= TARGET and was_asked,
        "was_asked": was_asked,
        **{
            f"{kind}_{name}_rounds": [round(row[f"{kind}_{name}"], 4) for row in rows]
            for kind in ("kept", "cpu")
            for name in SECONDS
        },
        "steps_per_second": {
            name: round(median(row[name] for row in rows)) for name in ("off", *SECONDS)
        },
        **told,
        "rounds": options.rounds,
        "iterations": options.iterations,
        "setup": {"runners": WORKERS, "envs_per_runner": ENVS, "frame_skip": 4},
        "load_average": os.getloadavg()[0],
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
    }


if __name__ == "__main__":
    sys.exit(run_command(__doc__, compare))
