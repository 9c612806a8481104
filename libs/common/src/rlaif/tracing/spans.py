"""Spans: each segment, from capture to label, and each request is one trace.

Ids are passed on in the W3C trace context. Without the OpenTelemetry SDK nothing is recorded, but
the ids still connect log lines and events.
"""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Literal

from opentelemetry import trace
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
    format_trace_id,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_TRACER = trace.get_tracer("rlaif")
_W3C = TraceContextTextMapPropagator()
_EXPORTERS = "opentelemetry_traces_exporter"


class UnknownExporterError(Exception):
    """No installed package provides the requested exporter."""


@contextmanager
def span(
    name: str,
    *,
    kind: Literal["internal", "server", "producer", "consumer"] = "internal",
    cause: str | None = None,
    attributes: Mapping[str, str] | None = None,
    recorded: bool = True,
) -> Iterator[Span]:
    """Open a span in the trace of `cause`, a `traceparent`, else in the current trace.

    Use few names, with ids as attributes. A span that is not `recorded` has ids only.
    """
    context = None if cause is None else _W3C.extract({"traceparent": cause})
    parent = trace.get_current_span(context).get_span_context()
    made: Span = NonRecordingSpan(parent)
    if recorded:
        made = _TRACER.start_span(name, context, SpanKind[kind.upper()], attributes)
    if made.get_span_context().span_id == parent.span_id:  # no SDK is installed
        made = NonRecordingSpan(_child_of(parent))
    with trace.use_span(made, end_on_exit=True):
        yield made


def current_traceparent() -> str | None:
    """The `traceparent` of the current span, to be passed on; None outside any span."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get("traceparent")


def current_trace_id() -> str | None:
    """The current trace id, 32 hexadecimal digits; None outside any span."""
    context = trace.get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else None


def export_spans(service: str) -> None:
    """Export this process's spans according to `OTEL_TRACES_EXPORTER`: console, otlp or none.

    Raises:
        UnknownExporterError: It is not installed.
    """
    name = os.environ.get("OTEL_TRACES_EXPORTER", "") or "none"
    if name == "none":
        return
    found = entry_points(group=_EXPORTERS, name=name)
    if not found:
        raise UnknownExporterError(
            f"OTEL_TRACES_EXPORTER is {name}, which no installed package has: for console pip "
            "install opentelemetry-sdk, for otlp opentelemetry-exporter-otlp"
        )
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: f"rlaif-{service}"}))
    provider.add_span_processor(BatchSpanProcessor(found[name].load()()))
    trace.set_tracer_provider(provider)


def _child_of(parent: SpanContext) -> SpanContext:
    span_id = secrets.randbits(64) or 1
    if parent.is_valid:
        return SpanContext(
            parent.trace_id, span_id, is_remote=False, trace_flags=parent.trace_flags
        )
    flags = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(secrets.randbits(128) or 1, span_id, is_remote=False, trace_flags=flags)
