"""Prometheus metrics of one service: `rlaif_<service>_<name>` in base units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

M = TypeVar("M", Counter, Gauge, Histogram, "CountedHistogram")

SECONDS_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""From a fast request to a slow call of a language model."""

WAITING_BUCKETS = (1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400)
"""From an event that is handled immediately to one that waited for a day."""


class CountedHistogram(Collector):
    """A histogram of another process: it adds bucket counts, not single observations."""

    def __init__(
        self,
        name: str,
        doc: str,
        labels: Sequence[str],
        *,
        registry: CollectorRegistry,
        buckets: Sequence[float],
    ) -> None:
        self._name, self._doc, self._labels = name, doc, tuple(labels)
        self._bounds = (*buckets, float("inf"))
        self._counted: dict[tuple[str, ...], tuple[list[int], float]] = {}
        registry.register(self)

    def add(self, labels: Sequence[str], counts: Sequence[int], total: float) -> None:
        """Add observations per bucket (the last has no bound); `total` is the sum of values."""
        known, so_far = self._counted.get(tuple(labels), ([0] * len(self._bounds), 0.0))
        summed = [a + b for a, b in zip(known, counts, strict=True)]
        self._counted[tuple(labels)] = (summed, so_far + total)

    def collect(self) -> Iterable[HistogramMetricFamily]:
        family = HistogramMetricFamily(self._name, self._doc, labels=self._labels)
        for labels, (counts, total) in self._counted.items():
            bounds = map(floatToGoString, self._bounds)
            family.add_metric(
                list(labels), list(zip(bounds, accumulate(counts), strict=True)), total
            )
        yield family


@dataclass(frozen=True)
class MetricDoc:
    """One metric, for the generated page; `name` is as exposed, including `_total` of counters."""

    name: str
    kind: str
    doc: str
    labels: tuple[str, ...]


class ServiceMetrics:
    """Creates the metrics; a second call with the same name returns the same metric."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, name: str) -> None:
        self._prefix = f"rlaif_{name.replace('-', '_')}_"
        self._made: dict[str, Counter | Gauge | Histogram | CountedHistogram] = {}
        self._docs: list[MetricDoc] = []
        self.registry = CollectorRegistry()
        # CPU, memory and open files; empty where there is no /proc.
        ProcessCollector(registry=self.registry)

    def counter(self, name: str, doc: str, labels: Sequence[str] = ()) -> Counter:
        """A counter; `_total` is added to its name."""
        return self._keep(Counter, name, doc, labels)

    def gauge(self, name: str, doc: str, labels: Sequence[str] = ()) -> Gauge:
        return self._keep(Gauge, name, doc, labels)

    def histogram(
        self,
        name: str,
        doc: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float] = SECONDS_BUCKETS,
    ) -> Histogram:
        return self._keep(Histogram, name, doc, labels, buckets=buckets)

    def counted_histogram(
        self, name: str, doc: str, labels: Sequence[str] = (), *, buckets: Sequence[float]
    ) -> CountedHistogram:
        return self._keep(CountedHistogram, name, doc, labels, buckets=buckets)

    def worker_observer(self) -> "WorkerMetrics":
        """Metrics of a durable worker (a `rlaif.bus.worker.WorkerObserver`)."""
        return WorkerMetrics(self)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)

    def described(self) -> tuple[MetricDoc, ...]:
        return tuple(self._docs)

    def _keep(self, kind: type[M], name: str, doc: str, labels: Sequence[str], **options: Any) -> M:
        metric = self._made.get(name)
        if metric is None:
            full = self._prefix + name
            metric = self._made[name] = kind(full, doc, labels, registry=self.registry, **options)
            shown = f"{full}_total" if kind is Counter else full
            word = "histogram" if kind is CountedHistogram else kind.__name__.lower()
            self._docs.append(MetricDoc(shown, word, doc, tuple(labels)))
        if not isinstance(metric, kind):
            raise ValueError(f"metric {name!r} exists as a {type(metric).__name__}")
        return metric


class WorkerMetrics:
    """Handled events by type and outcome, with duration and age."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._events = metrics.counter(
            "events", "Handled events, by outcome.", ("event", "outcome")
        )
        self._seconds = metrics.histogram(
            "event_seconds", "Time from delivery to the end of the handler.", ("event",)
        )
        self._ages = metrics.histogram(
            "event_age_seconds",
            "Time from publication to the final answer.",
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
        self._events.labels(event_type, outcome).inc()
        self._seconds.labels(event_type).observe(seconds)
        if outcome != "retried":
            self._ages.labels(event_type).observe(age)
