"""Metrics of a run as files in its folder: one row per iteration, for external tools.

    metrics.jsonl                 all rows; `pandas.read_json(path, lines=True)`
    events.out.tfevents.…         the same for TensorBoard: `tensorboard --logdir …/runs`

A resumed run drops the rows after its checkpoint, since it trains these steps again. Rows that
cannot be written are retried with the next one; the run never waits for them.
"""

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rlaif.files.tables import json_lines
from rlaif.files.whole import replacing
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.metrics_rows import STEP, MetricsRows, Row
from rlaif.trainer.run_folder.protocol import Message, Started

logger = logging.getLogger(__name__)

FILE = "metrics.jsonl"
TIME = "timestamp"
"""Seconds since 1970 at the end of the iteration, as in RLlib's results."""

_MAX_WAITING = 1000


class Sink(Protocol):
    """Receiver of the rows of a run."""

    def begin(self, step: int, reached: int) -> None:
        """Continue after `step`; rows were written up to `reached` before."""

    def write(self, rows: Sequence[Row]) -> None: ...

    def close(self) -> None: ...


class MetricsLog:
    """Writes the rows of one run, as a filter in front of `send`."""

    def __init__(
        self,
        directory: Path,
        send: Callable[[Message], None],
        more: Sequence[Sink] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._send, self._clock, self._more = send, clock, tuple(more)
        self._rows, self._lines = MetricsRows(), _JsonLines(directory / FILE)
        sinks: tuple[Sink, ...] = (self._lines, _EventFiles(directory), *more)
        self._sinks: dict[Sink, list[Row]] = {each: [] for each in sinks}
        self._failing: str | None = None

    def send(self, message: Message) -> None:
        self._send(message)
        if isinstance(message, Started):
            self._begin(message.env_steps)
        if (row := self._rows.row(message)) is not None:
            self._add({TIME: round(self._clock(), 3)} | row)

    def close(self) -> None:
        for sink in list(self._sinks):
            self._tried(sink, sink.close)

    def _begin(self, step: int) -> None:
        reached = self._lines.last_step()
        for sink in list(self._sinks):
            self._tried(sink, partial(sink.begin, step, reached))

    def _add(self, row: Row) -> None:
        issues = []
        for sink, waiting in list(self._sinks.items()):
            waiting.append(row)
            del waiting[:-_MAX_WAITING]
            issue = self._tried(sink, partial(sink.write, waiting))
            if issue is None:
                waiting.clear()
            else:
                issues.append(issue)
        if issues and self._failing is None:
            logger.warning("could not write metrics; will retry", extra={"reason": issues[0]})
        self._failing = issues[0] if issues else None

    def _tried(self, sink: Sink, write: Callable[[], None]) -> str | None:
        """Call `write`; returns a description of a disk error, or None.

        A tracker that fails is removed, since its library does its own retries.
        """
        try:
            write()
        except Exception as error:
            if sink in self._more:
                logger.warning("metrics are in the run's folder only", exc_info=True)
                del self._sinks[sink]
            elif isinstance(error, OSError):
                return disk.why(error)
            else:
                raise
        return None


def read(path: Path) -> Iterator[Row]:
    """Read the rows of a `metrics.jsonl`, oldest first; none if the file is missing."""
    with contextlib.suppress(FileNotFoundError):
        yield from json_lines(path)


class _JsonLines:
    def __init__(self, path: Path) -> None:
        self._path = path

    def last_step(self) -> int:
        """Return the last step of all rows; 0 if there are none or they cannot be read."""
        try:
            return max((int(row.get(STEP, 0)) for row in read(self._path)), default=0)
        except OSError:
            return 0

    def begin(self, step: int, reached: int) -> None:
        if not self._path.exists():
            return
        with replacing(self._path) as partial_path, partial_path.open("wb") as file:
            for row in read(self._path):
                if row.get(STEP, 0) <= step:
                    file.write(_line(row))

    def write(self, rows: Sequence[Row]) -> None:
        with self._path.open("ab") as file:
            size = file.tell()
            try:
                file.write(b"".join(map(_line, rows)))
                file.flush()
            except OSError:
                file.truncate(size)  # an incomplete line would corrupt the next one
                raise

    def close(self) -> None:
        pass


def _line(row: Row) -> bytes:
    return json.dumps(row).encode() + b"\n"


class _EventFiles:
    """Event files by tensorboardX, written without its thread, which would hide a full disk."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._purge_from: int | None = None
        self._writer: Any = None

    def begin(self, step: int, reached: int) -> None:
        self.close()
        self._purge_from = step + 1 if reached > step else None

    def write(self, rows: Sequence[Row]) -> None:
        rows = [row for row in rows if STEP in row]
        if not rows:
            return
        # Here, as it imports torch, which a search before training does not need.
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        try:
            writer = self._opened()
            for row in rows:
                values = [
                    Summary.Value(tag=name, simple_value=value)
                    for name, value in row.items()
                    if name not in (STEP, TIME)
                ]
                event = Event(wall_time=row[TIME], step=int(row[STEP]))
                event.summary.CopyFrom(Summary(value=values))
                writer.write_event(event)
            writer.flush()
        except OSError:
            self._writer = None  # data after an incomplete record cannot be read
            raise

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _opened(self) -> Any:
        if self._writer is None:
            from tensorboardX.event_file_writer import EventsWriter
            from tensorboardX.proto.event_pb2 import Event, SessionLog

            # Files created in the same second would have the same name.
            number = len(list(self._directory.glob("*.tfevents.*")))
            self._writer = EventsWriter(str(self._directory / "events"), f".{number}")
            if self._purge_from is not None:
                again = SessionLog(status=SessionLog.START)
                self._writer.write_event(
                    Event(wall_time=time.time(), step=self._purge_from, session_log=again)
                )
        return self._writer
