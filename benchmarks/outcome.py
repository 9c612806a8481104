"""Options of a benchmark, and its end: the machine, one line of JSON, an exit code."""

import argparse
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser whose `--help` shows the docstring of the benchmark."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def machine() -> str:
    """CPU, operating system and the versions that decide about speed."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(f"{name} {version(name)}" for name in ("pyboy", "numpy", "torch"))
    return (
        f"{named[0] if named else platform.machine()}, {os.cpu_count()} CPUs, "
        f"{platform.platform()}, Python {platform.python_version()}, {versions}"
    )


def finish(figures: dict[str, Any], *, met: bool) -> int:
    """Print the machine and the figures; gives the exit code, 0 if the targets are met."""
    print(f"machine: {machine()}, load {os.getloadavg()[0]:.1f}")
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0 if met else 1
