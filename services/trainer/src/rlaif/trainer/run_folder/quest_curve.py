"""Learning curve of a run of mode `quest`: messages in, rows of `quest_curve.csv` out.

At most one row per `ROW_SECONDS`, appended also by a resumed run. Rows that cannot be written are
lost.
"""

import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlaif.trainer.run_folder.protocol import CurriculumReport, IterationDone, Message, SearchReport

FILE = "quest_curve.csv"
ROW_SECONDS = 15.0
COLUMNS = (
    "phase", "seconds", "frames", "env_steps", "marks", "level", "milestones_mean", "rooms_mean",
    "return_mean", "segments", "mastered", "frontier", "power_on_share", "whole_success",
)  # fmt: skip
"""`seconds` are those of the phase, over all attempts; unknown values stay empty."""


class QuestCurve:
    """Writes the curve of one run, as a filter in front of `send`."""

    def __init__(
        self,
        directory: Path,
        send: Callable[[Message], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._send, self._clock = directory / FILE, send, clock
        self._written: float | None = None
        self._curriculum: dict[str, Any] = {}

    def send(self, message: Message) -> None:
        self._send(message)
        match message:
            case SearchReport():
                self._add(_of_search(message), always=not message.running)
            case CurriculumReport():
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
            with self._path.open("a", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                if not file.tell():
                    writer.writeheader()
                writer.writerow(row)
        except OSError:
            pass  # retried with the next row


def read(directory: Path) -> list[dict[str, str]]:
    """The rows of a run's curve, oldest first."""
    try:
        with (directory / FILE).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def _of_search(report: SearchReport) -> dict[str, Any]:
    return {
        "phase": "search",
        "seconds": round(report.seconds, 1),
        "frames": report.frames,
        "marks": report.marks,
        "level": report.level,
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


def _of_curriculum(report: CurriculumReport) -> dict[str, Any]:
    return {
        "segments": report.all_segments,
        "mastered": report.mastered,
        "frontier": _rounded(report.frontier_mean),
        "power_on_share": round(report.power_on_share, 4),
        "whole_success": _rounded(report.whole_success),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
