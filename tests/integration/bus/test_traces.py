"""One segment through the bus, past three workers: one trace."""

import json
import logging

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from rlaif.bus.outcome import Reject
from rlaif.contracts.events import SegmentExported, SegmentScored
from rlaif.service.logging import JsonFormatter
from rlaif.testing.data.events import segment_captured, segment_exported, segment_scored
from rlaif.testing.waiting import eventually
from rlaif.tracing import spans


@pytest.fixture
def recorded(monkeypatch):
    """The spans that ended, by name."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_TRACER", provider.get_tracer("test"))
    return lambda: {span.name: span for span in exporter.get_finished_spans()}


async def test_a_segment_is_one_trace_from_its_capture_to_its_label(bus, start_worker, recorded):
    async def export(event):
        await bus.publisher("exporter").publish(segment_exported())

    async def score(event):
        await bus.publisher("judge").publish(segment_scored())

    labelled = []

    async def label(event):
        line = logging.makeLogRecord({"msg": "labelled"})
        labelled.append(json.loads(JsonFormatter("reward-model").format(line)))

    start_worker(export)
    start_worker(score, event=SegmentExported, consumer="judge")
    start_worker(label, event=SegmentScored, consumer="reward-model")
    await bus.publisher("trainer").publish(segment_captured())
    await eventually(lambda: len(recorded()) == 6, "the label's span")
    chain = sorted(recorded().values(), key=lambda span: span.start_time)
    assert [span.name for span in chain] == [
        "publish rlaif.segment.captured.v1",
        "process rlaif.segment.captured.v1",
        "publish rlaif.segment.exported.v1",
        "process rlaif.segment.exported.v1",
        "publish rlaif.segment.scored.v1",
        "process rlaif.segment.scored.v1",
    ]
    trace = chain[0].context.trace_id
    assert {span.context.trace_id for span in chain} == {trace}
    assert chain[0].parent is None
    assert [span.parent.span_id for span in chain[1:]] == [s.context.span_id for s in chain[:-1]]
    assert [span.kind for span in chain] == [SpanKind.PRODUCER, SpanKind.CONSUMER] * 3
    assert chain[0].attributes["messaging.message.id"] == "captured:segment-1"
    assert labelled[0]["trace_id"] == format_trace_id(trace)


async def test_a_handler_that_fails_leaves_a_span_that_reports_it(bus, start_worker, recorded):
    async def handler(event):
        raise Reject("rom_missing", "no cartridge is configured")

    start_worker(handler)
    await bus.publisher("trainer").publish(segment_captured())
    await eventually(lambda: len(recorded()) == 3, "a span for the dead letter too")
    (failed,) = [span for span in recorded().values() if span.kind is SpanKind.CONSUMER]
    assert failed.status.status_code is StatusCode.ERROR
    assert "rom_missing" in failed.events[0].attributes["exception.message"]
