import pytest

from rlaif.service.metrics import ServiceMetrics


def test_a_name_gives_the_same_metric_again_but_never_another_kind() -> None:
    metrics = ServiceMetrics("judge")
    assert metrics.counter("calls", "Calls.") is metrics.counter("calls", "Calls.")
    with pytest.raises(ValueError, match="exists as a Counter"):
        metrics.gauge("calls", "Calls.")


def test_metrics_describe_themselves_once_and_as_they_are_exposed() -> None:
    metrics = ServiceMetrics("judge")
    metrics.counter("calls", "Calls.", ("judge",))
    metrics.counter("calls", "Calls.", ("judge",))
    metrics.histogram("call_seconds", "Time.")
    assert [(m.name, m.kind, m.doc, m.labels) for m in metrics.described()] == [
        ("rlaif_judge_calls_total", "counter", "Calls.", ("judge",)),
        ("rlaif_judge_call_seconds", "histogram", "Time.", ()),
    ]


def test_the_worker_observer_counts_events_by_outcome() -> None:
    metrics = ServiceMetrics("judge")
    observer = metrics.worker_observer()
    observer.handled("rlaif.segment.exported.v1", "done", 0.2, age=70)
    observer.handled("rlaif.segment.exported.v1", "rejected", 0.1, age=2)
    observer.handled("rlaif.segment.exported.v1", "retried", 0.2, age=500)  # has no age yet
    text = metrics.exposition().decode()
    event = 'event="rlaif.segment.exported.v1"'
    assert f'rlaif_judge_events_total{{{event},outcome="done"}} 1.0' in text
    assert f'rlaif_judge_events_total{{{event},outcome="rejected"}} 1.0' in text
    assert f"rlaif_judge_event_seconds_count{{{event}}} 3.0" in text
    assert f"rlaif_judge_event_age_seconds_sum{{{event}}} 72.0" in text


def test_a_histogram_that_another_process_counts_is_exposed_like_any_other() -> None:
    metrics = ServiceMetrics("trainer")
    seconds = metrics.counted_histogram("call_seconds", "Time.", ("mode",), buckets=(0.5, 2))
    seconds.add(("dialog",), [1, 2, 3], 20.5)
    seconds.add(("dialog",), [1, 0, 0], 0.25)
    read = metrics.registry.get_sample_value
    name = "rlaif_trainer_call_seconds"
    buckets = [
        read(f"{name}_bucket", {"mode": "dialog", "le": le}) for le in ("0.5", "2.0", "+Inf")
    ]
    assert buckets == [2, 4, 7], "cumulated, as Prometheus has them"
    assert read(f"{name}_count", {"mode": "dialog"}) == 7
    assert read(f"{name}_sum", {"mode": "dialog"}) == 20.75
    assert metrics.described()[-1].kind == "histogram"
    assert f'{name}_bucket{{le="+Inf",mode="dialog"}} 7.0' in metrics.exposition().decode()
