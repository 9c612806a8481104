"""Common parts of all benchmarks: options, head and end of a results file, and ratios.

A results file begins with the commit, processor, Python, packages and load, then has the raw
figures of each round, and ends with one line of JSON. Contenders are measured in alternation: the
speed of a shared machine changes by half within minutes.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

WORKERS, ENVS = 2, 8
"""Runners of a compared training run, and environments per runner."""

RESAMPLES = 4_000
PACKAGES = ("pyboy", "numpy", "torch", "ray")
HERE = Path(__file__).resolve().parent
_BEGAN = time.monotonic()


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser whose `--help` shows the docstring of the benchmark."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def begin() -> None:
    """Print the head of a results file."""
    say(head())


def head() -> str:
    """`name: value` lines, the commit first."""
    return "\n".join(f"{name}: {value}" for name, value in machine().items())


def machine() -> dict[str, str]:
    """The measured commit and the machine."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "commit": commit(),
        "processor": f"{named[0] if named else platform.machine()}, {os.cpu_count()} CPUs",
        "python": f"{platform.python_version()}, {platform.platform()}",
        "packages": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "load": " ".join(f"{each:.2f}" for each in os.getloadavg()),
    }


def commit() -> str:
    """Seven digits of the commit, with a + if the working tree differs from it."""
    git = ("git", "-C", str(HERE))
    try:
        head = subprocess.check_output([*git, "rev-parse", "--short=7", "HEAD"], text=True).strip()
        # Excludes the results, which a benchmark writes.
        changes = [*git, "status", "--porcelain", "--", ":/", ":!/benchmarks"]
        return head + ("+" if subprocess.check_output(changes) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def say(message: str) -> None:
    print(message, flush=True)


def print_round(name: str, row: Mapping[str, float]) -> None:
    """Print the raw figures of a round."""
    say(f"{name}: {', '.join(f'{key} {value:.4g}' for key, value in row.items())}")


def interval(
    values: Sequence[float], figure: Callable[[Sequence[float]], float] = median
) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a figure; deterministic."""
    draw = Random(0)
    found = sorted(figure(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    outside = RESAMPLES // 40
    return round(found[outside], 4), round(found[-1 - outside], 4)


def summary(rows: Sequence[Mapping[str, float]], ratios: Iterable[str]) -> dict[str, Any]:
    """Medians of all figures; for `ratios`, also the interval and the value of each round."""
    found: dict[str, Any] = {name: round(median(row[name] for row in rows), 4) for name in rows[0]}
    for name in ratios:
        values = [row[name] for row in rows]
        found[f"{name}_interval"] = interval(values)
        found[f"{name}_rounds"] = [round(each, 4) for each in values]
    return found


def verdicts(found: Mapping[str, Any], targets: Mapping[str, float]) -> dict[str, str]:
    """Ratio → met: the interval is at or above the target; missed: below; else not shown."""
    said = {}
    for name, target in targets.items():
        low, high = found[f"{name}_interval"]
        said[name] = "met" if low >= target else "missed" if high < target else "not shown"
        say(f"{name}: {found[name]} ({low} to {high}), target ≥ {target:g}: {said[name]}")
    return said


def write_csv(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def finish(figures: dict[str, Any], *, met: bool) -> int:
    """Print machine, figures and duration; return the exit code, 0 if the targets are met."""
    minutes = round((time.monotonic() - _BEGAN) / 60, 1)
    sys.stdout.write(json.dumps(figures | {"machine": machine(), "took_minutes": minutes}) + "\n")
    return 0 if met else 1
