"""`rlaif explore`: a search without training; its progress in the terminal."""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from rlaif.files.failures import command
from rlaif.files.options import finite, whole
from rlaif.files.whole import write_whole
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.exploration import explore, explorers_of
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.search import Figures, SearchSettings

_REPORT_SECONDS = 10.0
_ENVIRONMENTS = 8
"""Of a runner."""


@command("rlaif explore")
def main(arguments: list[str] | None = None) -> int:
    """Search until the limit of time or frames is reached, or until a signal arrives; return 0."""
    options = _parser().parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        # An exception would be lost inside of the emulator, which calls back into Python.
        signal.signal(number, lambda *_: stop.set())
    search = open_search(options.out, load_cartridge(options.rom), SearchSettings(options.seed))
    runners = explorers_of(options.rom, workers=options.workers, environments=_ENVIRONMENTS)
    started, reported, seen = search.figures.seconds, 0.0, len(search.figures.marks)
    for _ in explore(search, runners, environments=_ENVIRONMENTS):
        figures = search.figures
        for first in figures.marks[seen:]:
            _say(f"  {first.mark:<18} at {first.frames / 1e6:8.3f} M frames, node {first.node}")
        seen = len(figures.marks)
        if figures.seconds - reported >= _REPORT_SECONDS:
            reported = figures.seconds
            _report(figures, options.out)
        over = figures.seconds - started >= options.minutes * 60 or figures.frames >= options.frames
        if over or stop.is_set():
            break
    _report(search.figures, options.out)
    search.close()
    runners.stop()
    return 0


def _report(figures: Figures, folder: Path) -> None:
    _say(_line(figures))
    write_whole(folder / "figures.json", (json.dumps(figures.as_dict(), indent=1) + "\n").encode())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rlaif explore", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder; a search in it is resumed")
    parser.add_argument("--rom", type=Path, help="ROM file (default: the embedded game)")
    parser.add_argument("--seed", type=whole(), default=0)
    parser.add_argument(
        "--workers",
        type=whole(maximum=1024),
        default=1,
        help="runner processes; 0: play in this process",
    )
    parser.add_argument(
        "--minutes", type=finite(above_zero=True), default=45.0, help="time limit of this call"
    )
    parser.add_argument(
        "--frames",
        type=finite(above_zero=True),
        default=float("inf"),
        help="limit of the whole search",
    )
    return parser


def _line(figures: Figures) -> str:
    minutes = figures.seconds / 60
    return (
        f"{minutes:6.1f} min {figures.frames / 1e6:8.2f} M frames "
        f"{figures.frames_per_second:6.0f}/s "
        f"{figures.cells:6d} cells {figures.nodes:6d} nodes {figures.rooms:3d} rooms "
        f"{len(figures.marks):3d} flags, level {figures.level:5.2f}, {figures.deaths} deaths"
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
