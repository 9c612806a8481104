import json
import logging
import sys

import pytest

from rlaif.service.logging import EqualLines, JsonFormatter, TextFormatter, configure_logging
from rlaif.tracing.spans import current_trace_id, span


def _record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    return logging.getLogger("rlaif.judge").makeRecord(
        "rlaif.judge", logging.WARNING, "file.py", 1, message, args, None, extra=extra
    )


def test_a_record_is_one_line_of_json_with_its_fields() -> None:
    line = JsonFormatter("judge").format(_record("scored %s\nnow", "s-1", seconds=0.5, key=b"\x00"))
    assert "\n" not in line
    fields = json.loads(line)
    assert fields["ts"].endswith("Z")
    assert len(fields["ts"]) == len("2026-01-01T00:00:00.000Z")
    assert (fields["level"], fields["service"]) == ("warning", "judge")
    assert (fields["logger"], fields["message"]) == ("rlaif.judge", "scored s-1\nnow")
    assert (fields["seconds"], fields["key"]) == (0.5, "b'\\x00'")
    assert list(fields)[:5] == ["ts", "level", "service", "logger", "message"]


def test_an_exception_is_part_of_the_line_in_both_formats() -> None:
    record = _record("failed", segment="s-1")
    try:
        raise ValueError("why")
    except ValueError:
        record.exc_info = sys.exc_info()
    assert "ValueError: why" in json.loads(JsonFormatter("judge").format(record))["exception"]
    text = TextFormatter().format(record)
    assert "WARNING" in text.splitlines()[0]
    assert "failed  segment=s-1" in text.splitlines()[0]
    assert text.splitlines()[-1] == "ValueError: why"


def test_a_line_inside_a_request_has_its_trace_id() -> None:
    with span("request"):
        fields = json.loads(JsonFormatter("judge").format(_record("x")))
        assert fields["trace_id"] == current_trace_id() is not None
    assert "trace_id" not in json.loads(JsonFormatter("judge").format(_record("x")))


def test_the_level_decides_and_libraries_stay_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("judge", "debug", "json")
    logging.getLogger("rlaif.judge").debug("seen")
    logging.getLogger("botocore.auth").debug("with headers")
    configure_logging("judge", "warning", "json")
    logging.getLogger("rlaif.judge").info("not seen")
    out, err = capsys.readouterr()
    assert out == ""
    assert [json.loads(line)["message"] for line in err.splitlines()] == ["seen"]


def test_an_equal_line_passes_once_in_ten_seconds_and_is_counted() -> None:
    now = 0.0
    lines = EqualLines(clock=lambda: now)
    record = _record("no descriptor is left for %s", "a socket", segment="s-1")
    assert [lines.filter(record) for _ in range(1000)] == [True] + [False] * 999
    assert lines.filter(_record("no descriptor is left for %s", "a socket", segment="s-2"))
    now = 10.0
    assert lines.filter(record)
    assert record.getMessage() == "no descriptor is left for a socket (999 equal lines left out)"


def test_many_different_lines_are_forgotten() -> None:
    now = 0.0
    lines = EqualLines(clock=lambda: now)
    for number in range(5000):
        now = number / 10
        assert lines.filter(_record("line %d", number))
    assert len(lines._passed) <= 1000
