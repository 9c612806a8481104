"""How a run of mode `quest` went, for the report of it: messages in, rows of `quest_curve.csv` out.

A row every `ROW_SECONDS` at most, appended; a run that resumes goes on in the same file, with the
columns of this version. It is for people only: a disk that does not take it costs the curve, never
the run.
"""

import csv
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder.protocol import CurriculumTold, IterationDone, Message, SearchTold

FILE = "quest_curve.csv"
ROW_SECONDS = 15.0
COLUMNS = (
    "phase", "seconds", "frames", "env_steps", "marks", "level", "milestones_mean", "rooms_mean",
    "return_mean", "segments", "mastered", "frontier", "power_on_share", "whole_success",
)  # fmt: skip
"""`seconds` are those of the phase, over all attempts; what a phase does not know stays empty."""


class QuestCurve:
    """Writes the curve of one run while its messages pass by."""

    def __init__(
        self,
        directory: Path,
        tell: Callable[[Message], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._tell, self._clock = directory / FILE, tell, clock
        self._written: float | None = None
        self._is_ready = False
        self._curriculum: dict[str, Any] = {}

    def tell(self, message: Message) -> None:
        """Pass a message on, and keep what it says of progress."""
        self._tell(message)
        match message:
            case SearchTold():
                self._add(_of_search(message), always=not message.running)
            case CurriculumTold():
                self._curriculum = _of_curriculum(message)
            case IterationDone():
                self._add(_of_iteration(message) | self._curriculum)
            case _:
                pass

    def _add(self, row: dict[str, Any], *, always: bool = False) -> None:
        now = self._clock()
        if not always and self._written is not None and now - self._written < ROW_SECONDS:
            return
        self._written = now
        try:
            if not self._is_ready:
                _make_ready(self._path)
                self._is_ready = True
            with self._path.open("a", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        except OSError:
            pass  # the next row tries again


def read(directory: Path) -> list[dict[str, str]]:
    """The rows of a run's curve, oldest first; none without one."""
    try:
        with (directory / FILE).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def _make_ready(path: Path) -> None:
    """A file with these columns: a new one, or what a version with others left."""
    rows = read(path.parent)
    if rows and tuple(rows[0]) == COLUMNS:
        return
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())


def _of_search(told: SearchTold) -> dict[str, Any]:
    return {
        "phase": "search",
        "seconds": round(told.seconds, 1),
        "frames": told.frames,
        "marks": told.marks,
        "level": told.level,
    }


def _of_iteration(done: IterationDone) -> dict[str, Any]:
    return {
        "phase": "policy",
        "seconds": round(done.trained_seconds, 1),
        "env_steps": done.env_steps,
        "milestones_mean": _rounded(done.milestones_mean),
        "rooms_mean": _rounded(done.rooms_mean),
        "return_mean": _rounded(done.episode_return_mean),
    }


def _of_curriculum(told: CurriculumTold) -> dict[str, Any]:
    return {
        "segments": told.all_segments,
        "mastered": told.mastered,
        "frontier": _rounded(told.frontier_mean),
        "power_on_share": round(told.power_on_share, 4),
        "whole_success": _rounded(told.whole_success),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
