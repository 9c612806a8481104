"""Run the benchmarks with stale results, cheapest first, and write the results and the page.

    make bench-refresh                            all that are stale
    make bench-refresh BENCH="ladder bench_hud"   these, in this order, stale or not
    make bench-refresh MINUTES=45                 as many as fit into so many minutes
    make bench-refresh CHECK=1                    none: lists the stale ones, fails if there are any

A benchmark that has ended is recorded at once, so the same command continues after an interruption.
For speed figures, run nothing else on the machine.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence

import outcome
import stale


def main(argv: Sequence[str] | None = None) -> int:
    parser = outcome.parser_of(__doc__)
    parser.add_argument("benchmarks", nargs="*", help="names of results, such as ladder")
    parser.add_argument("--minutes", type=float, help="begin none that ends later")
    parser.add_argument("--check", action="store_true", help="list the stale ones")
    options = parser.parse_args(argv)
    raws = chosen(options.benchmarks)
    minutes = {raw: minutes_of(raw) for raw in raws}
    outcome.say(f"{len(raws)} results to measure, {sum(minutes.values()):.0f} min:")
    for raw in raws:
        command = stale.BENCHMARKS[raw]["command"]
        how = f"by hand, {command}" if isinstance(command, str) else " ".join(command)
        outcome.say(f"  {raw}: {minutes[raw]:.0f} min, {how}")
    if options.check:
        return 1 if raws else 0
    began, failed = time.monotonic(), []
    for raw in raws:
        left = None if options.minutes is None else options.minutes * 60 + began - time.monotonic()
        if left is not None and minutes[raw] * 60 > left:
            outcome.say(f"{raw}: left out, {left / 60:.0f} min are left")
        elif not measure(raw):
            failed.append(raw)
    if failed:
        outcome.say(f"not measured: {', '.join(failed)}")
    return 1 if failed else 0


def chosen(names: Sequence[str]) -> list[str]:
    """Select results by name; without names, the stale ones, cheapest first."""
    known = stale.BENCHMARKS
    if names:
        by_name = {raw.removesuffix(".txt"): raw for raw in known}
        if unknown := [name for name in names if name not in by_name]:
            sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(by_name)}")
        return [by_name[name] for name in names]
    return sorted(filter(stale.is_stale, known), key=lambda raw: known[raw]["minutes"])


def minutes_of(raw: str) -> float:
    """Duration of the last run, if known."""
    found = stale.result_of(raw)
    recorded = None if found is None else found[1].get("took_minutes")
    return float(recorded or stale.BENCHMARKS[raw]["minutes"])


def measure(raw: str) -> bool:
    """Run it, store its output and record it; return whether there is a result.

    A missed target is also a result: exit code 1, as for a crash, which prints no figures.
    """
    command, target = stale.BENCHMARKS[raw]["command"], stale.RESULTS / raw
    if isinstance(command, str):
        outcome.say(f"{raw}: by hand: {command}; then stale.py --measured {raw}")
        return False
    outcome.say(f"{raw}: {' '.join(command)}")
    lines: list[str] = []
    head, began = outcome.head(), time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-u", *command], cwd=stale.ROOT, text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            outcome.say(f"  {line.rstrip()}")
            lines.append(line)
    if process.returncode not in (0, 1) or not is_whole(lines, command):
        outcome.say(f"{raw}: ended with {process.returncode}, nothing is recorded")
        return False
    if target.suffix:
        own = "" if lines[0].startswith("commit: ") else f"{head}\n"
        target.write_text(own + "".join(lines), encoding="utf-8")
    stale.record([raw])
    outcome.say(f"{raw}: measured in {(time.monotonic() - began) / 60:.1f} min")
    return True


def is_whole(lines: Sequence[str], command: Sequence[str]) -> bool:
    """Whether the output ends with figures, as printed by `outcome.finish`."""
    try:
        figures = json.loads(lines[-1])
    except (IndexError, ValueError):
        return False
    return isinstance(figures, dict) and (command[0] == "-m" or "took_minutes" in figures)


if __name__ == "__main__":
    sys.exit(main())
