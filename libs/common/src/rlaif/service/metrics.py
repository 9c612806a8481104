"""Prometheus metrics of one service, in a registry of its own.

Names are `rlaif_<service>_<name>`; units are base units (seconds, bytes); no ids in labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

M = TypeVar("M", Counter, Gauge, Histogram)

SECONDS_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""From a quick request to a slow call of a language model."""

WAITING_BUCKETS = (1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400)
"""From an event that is handled at once to one that waited for a day."""


@dataclass(frozen=True)
class MetricDoc:
    """One metric, for the generated page; `name` is as exposed, `_total` of a counter included."""

    name: str
    kind: str
    doc: str
    labels: tuple[str, ...]


class ServiceMetrics:
    """Makes and keeps the metrics; asking twice for a name gives the same metric."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, name: str) -> None:
        self._prefix = f"rlaif_{name.replace('-', '_')}_"
        self._made: dict[str, Counter | Gauge | Histogram] = {}
        self._docs: list[MetricDoc] = []
        self.registry = CollectorRegistry()
        # CPU, memory and open files; empty where there is no /proc.
        ProcessCollector(registry=self.registry)

    def counter(self, name: str, doc: str, labels: Sequence[str] = ()) -> Counter:
        """A number that only rises; `_total` is added to its name."""
        return self._keep(Counter, name, doc, labels)

    def gauge(self, name: str, doc: str, labels: Sequence[str] = ()) -> Gauge:
        """A number that goes up and down."""
        return self._keep(Gauge, name, doc, labels)

    def histogram(
        self,
        name: str,
        doc: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float] = SECONDS_BUCKETS,
    ) -> Histogram:
        """A distribution; the default buckets suit durations in seconds."""
        return self._keep(Histogram, name, doc, labels, buckets=buckets)

    def worker_observer(self) -> "WorkerMetrics":
        """Counts what a durable worker does (fits `rlaif.bus.worker.WorkerObserver`)."""
        return WorkerMetrics(self)

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self.registry)

    def described(self) -> tuple[MetricDoc, ...]:
        """The metrics made so far, in the order in which they were made."""
        return tuple(self._docs)

    def _keep(self, kind: type[M], name: str, doc: str, labels: Sequence[str], **options: Any) -> M:
        metric = self._made.get(name)
        if metric is None:
            full = self._prefix + name
            metric = self._made[name] = kind(full, doc, labels, registry=self.registry, **options)
            shown = f"{full}_total" if kind is Counter else full
            self._docs.append(MetricDoc(shown, kind.__name__.lower(), doc, tuple(labels)))
        if not isinstance(metric, kind):
            raise ValueError(f"metric {name!r} exists as a {type(metric).__name__}")
        return metric


class WorkerMetrics:
    """Events handled, by type and outcome, how long they took, and how old they were then."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._events = metrics.counter(
            "events", "Events handled, by how it ended.", ("event", "outcome")
        )
        self._seconds = metrics.histogram(
            "event_seconds", "Time from delivery to the end of the handler.", ("event",)
        )
        self._ages = metrics.histogram(
            "event_age_seconds",
            "Time from publication to the answer that ended it, done or rejected.",
            ("event",),
            buckets=WAITING_BUCKETS,
        )

    def handled(
        self,
        event_type: str,
        outcome: Literal["done", "retried", "rejected"],
        seconds: float,
        age: float,
    ) -> None:
        """Note one handled event."""
        self._events.labels(event_type, outcome).inc()
        self._seconds.labels(event_type).observe(seconds)
        if outcome != "retried":
            self._ages.labels(event_type).observe(age)
