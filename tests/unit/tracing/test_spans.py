import re
import subprocess
import sys

import pytest

from rlaif.tracing.spans import (
    UnknownExporterError,
    current_trace_id,
    current_traceparent,
    export_spans,
    span,
)

FORMAT = re.compile(r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
CAUSE = f"00-{'a' * 32}-{'b' * 16}-00"


def _traceparent(**arguments: object) -> str:
    with span("work", **arguments):  # type: ignore[arg-type]  # passed on
        found = current_traceparent()
    assert found is not None
    return found


@pytest.mark.parametrize("recorded", [True, False])
def test_an_effect_keeps_the_trace_and_takes_a_new_span(recorded: bool) -> None:
    effect = _traceparent(cause=CAUSE, recorded=recorded)
    assert FORMAT.match(effect)
    assert effect.startswith(f"00-{'a' * 32}-")
    assert effect.endswith("-00")
    assert effect != CAUSE


@pytest.mark.parametrize("cause", [None, "", "nonsense", "00-short-b-01"])
def test_without_a_readable_cause_a_new_trace_starts(cause: str | None) -> None:
    first, second = _traceparent(cause=cause), _traceparent(cause=cause)
    assert FORMAT.match(first)
    assert first[3:35] != second[3:35]


def test_a_span_inside_another_is_of_its_trace_unless_it_has_a_cause() -> None:
    with span("outer"):
        outer = current_trace_id()
        assert _traceparent()[3:35] == outer
        assert _traceparent(cause=CAUSE)[3:35] == "a" * 32
        assert _traceparent(cause="")[3:35] not in (outer, "a" * 32)
        assert current_trace_id() == outer
    assert current_trace_id() is None
    assert current_traceparent() is None


def test_an_exporter_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    with pytest.raises(UnknownExporterError, match="carrier-pigeon"):
        export_spans("judge")


SCRIPT = """
from rlaif.tracing.spans import export_spans, span
export_spans("judge")
with span("score", cause="00-{trace}-{span}-01"):
    pass
"""


@pytest.mark.parametrize(
    ("exporter", "reported"), [("console", True), ("none", False), ("", False)]
)
def test_spans_are_written_where_the_environment_says(monkeypatch, exporter, reported):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", exporter)
    code = SCRIPT.format(trace="a" * 32, span="b" * 16)
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ("rlaif-judge" in shown.stdout) is reported
    assert (f"0x{'a' * 32}" in shown.stdout) is reported
