"""Logs on standard error: one JSON object per line, or text."""

import json
import logging
import math
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal

from rlaif.tracing.spans import current_trace_id

_QUIET = ("botocore", "boto3", "urllib3", "s3transfer", "asyncio", "websockets", "httpx")
"""Verbose libraries, whose messages may also contain request headers or passwords in URLs."""

_EQUAL_SECONDS = 10.0
_MAX_LINES = 1000

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def configure_logging(
    service: str, level: str = "info", format: Literal["json", "text"] = "json"
) -> None:
    """Send all logs of the process to standard error, replacing earlier handlers."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(service) if format == "json" else TextFormatter())
    handler.addFilter(EqualLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def extra_fields(record: logging.LogRecord) -> Mapping[str, object]:
    """The `extra` fields of the logging call, without private ones of libraries (`_…`)."""
    return {k: v for k, v in vars(record).items() if k not in _STANDARD and not k.startswith("_")}


class EqualLines(logging.Filter):
    """Passes equal lines once per ten seconds; the next one has the number of suppressed lines.

    Lines are equal if everything except time and traceback is equal.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, message = self._clock(), record.getMessage()
        line = (
            record.name, record.levelno, message, repr(extra_fields(record)), current_trace_id()
        )  # fmt: skip
        at, left_out = self._passed.get(line, (-math.inf, 0))
        if now - at < _EQUAL_SECONDS:
            self._passed[line] = at, left_out + 1
            return False
        if len(self._passed) >= _MAX_LINES:
            self._passed = {
                each: (at, n) for each, (at, n) in self._passed.items() if now - at < _EQUAL_SECONDS
            }
        self._passed[line] = now, 0
        if left_out:
            record.msg, record.args = f"{message} ({left_out} equal lines left out)", ()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "ts": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
            "message": record.getMessage(),
        }
        trace_id = current_trace_id()
        if trace_id is not None:
            line["trace_id"] = trace_id
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        for key, value in extra_fields(record).items():
            line.setdefault(key, value)
        return json.dumps(line, default=str, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """`12:00:00.123 INFO  rlaif.judge  message  key=value`, then the traceback if any."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone()
        parts = [
            f"{at:%H:%M:%S}.{at.microsecond // 1000:03d} {record.levelname:<7} {record.name}",
            record.getMessage(),
            *(f"{key}={value}" for key, value in extra_fields(record).items()),
        ]
        text = "  ".join(parts)
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text
