"""Rules and dashboards ask for metrics, labels and values that are there."""

import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.promql import Asked, Expression, exposed, expressions

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "deploy/monitoring"

TARGET = frozenset({"job", "instance"})
"""Labels that Prometheus itself gives to all that it scrapes."""

SERVER = frozenset(
    {"server_id", "server_name", "cluster", "domain", "meta_leader", "is_meta_leader"}
)
STREAM = SERVER | {"account", "account_id", "stream_name", "stream_leader", "is_stream_leader"}
CONSUMER = STREAM | {"consumer_name", "consumer_leader", "is_consumer_leader"}
CLAIM = frozenset({"namespace", "persistentvolumeclaim"})
CERTIFICATE = frozenset({"exported_namespace", "name"})
FOREIGN = {
    "up": frozenset(),
    "process_resident_memory_bytes": frozenset(),
    "process_cpu_seconds_total": frozenset(),
    # prometheus-nats-exporter with -prefix=nats: collector/jsz.go, and /varz name by name.
    "nats_stream_total_messages": STREAM,
    "nats_stream_total_bytes": STREAM,
    "nats_consumer_num_pending": CONSUMER,
    "nats_consumer_num_ack_pending": CONSUMER,
    "nats_consumer_num_redelivered": CONSUMER,
    "nats_consumer_delivered_stream_seq": CONSUMER,
    "nats_varz_connections": frozenset({"server_id"}),
    "nats_varz_slow_consumers": frozenset({"server_id"}),
    "nats_varz_mem": frozenset({"server_id"}),
    # The cluster's kube-state-metrics and kubelets.
    "kube_job_failed": frozenset({"namespace", "job_name", "condition"}),
    "kube_cronjob_status_last_successful_time": frozenset({"namespace", "cronjob"}),
    "kube_pod_status_phase": frozenset({"namespace", "pod", "phase"}),
    "kube_persistentvolumeclaim_status_phase": CLAIM | {"phase"},
    # cert-manager: pkg/metrics; `exported_namespace` as its own namespace is that of the target.
    "certmanager_certificate_expiration_timestamp_seconds": CERTIFICATE,
    "certmanager_certificate_ready_status": CERTIFICATE | {"condition"},
    "kubelet_volume_stats_available_bytes": CLAIM,
    "kubelet_volume_stats_capacity_bytes": CLAIM,
    # Ray's metrics agent; see test_rays_metrics_are_rays_own.
    "ray_node_cpu_utilization": frozenset(),
    "ray_node_cpu_count": frozenset(),
    "ray_node_mem_used": frozenset(),
    "ray_node_mem_total": frozenset(),
    "ray_object_store_memory": frozenset({"Location"}),
    "ray_actors": frozenset({"Name", "State"}),
    "ray_resources": frozenset({"Name", "State"}),
}
"""Metrics that are not the services', with their labels."""

ROW = re.compile(r"^- `(?P<name>rlaif_\S+)` (?P<kind>\w+)(?: by (?P<labels>[^:]*))?:", re.MULTILINE)


@cache
def known() -> dict[str, frozenset[str]]:
    """Series → its labels: those of docs/metrics.md, which says what the code says, and foreign."""
    page = (ROOT / "docs/metrics.md").read_text()
    services = [name.replace("-", "_") for name in re.findall(r"^## (\S+)$", page, re.MULTILINE)]
    found: dict[str, frozenset[str]] = {name: labels | TARGET for name, labels in FOREIGN.items()}
    for row in ROW.finditer(page):
        labels = frozenset(re.findall(r"`(\w+)`", row["labels"] or "")) | TARGET
        for service in services if "<service>" in row["name"] else [""]:
            name = row["name"].replace("<service>", service)
            if row["kind"] == "histogram":
                found[f"{name}_bucket"] = labels | {"le"}
                found[f"{name}_sum"] = found[f"{name}_count"] = labels
            else:
                found[name] = labels
    return found


@cache
def spelt() -> str:
    """The sources of everything that makes a metric."""
    tops = ("libs/common", "services")
    return "\n".join(
        path.read_text() for top in tops for path in sorted((ROOT / top).rglob("src/**/*.py"))
    )


def wrong(expression: Expression) -> list[str]:
    """What an expression asks for and no service exposes."""
    found, seen = [], set(TARGET)
    for asked in expression.asked():
        metrics = {name: labels for name, labels in known().items() if asked.is_named(name)}
        if not metrics:
            found.append(f"no metric {asked.pattern}")
        seen |= {label for labels in metrics.values() for label in labels}
        for label in sorted(asked.labels):
            if metrics and not any(label in labels for labels in metrics.values()):
                found.append(f"{asked.pattern} has no label {label}")
        found += [f"nobody sets {value}" for value in values(asked) if f'"{value}"' not in spelt()]
    return found + [f"no label {label} to group by" for label in expression.grouped_by() - seen]


def values(asked: Asked) -> list[str]:
    """Values of a service's labels that are named, word by word."""
    if not asked.pattern.startswith("rlaif_"):
        return []
    named = [each for label, each in asked.wanted.items() if label not in TARGET]
    words = [word.replace("\\", "") for each in named for word in each.split("|")]
    return [word for word in words if re.fullmatch(r"[\w -]+", word)]


EXPRESSIONS = expressions(MONITORING)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda each: each.where)
def test_what_is_asked_for_is_exposed(expression):
    assert wrong(expression) == []


def test_rules_and_dashboards_are_found():
    files = {each.where.partition(":")[0] for each in EXPRESSIONS}
    assert {Path(name).suffix for name in files} == {".yaml", ".json"}
    assert len(EXPRESSIONS) > 100


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rate(rlaif_judge_calls_tota[5m])", "no metric rlaif_judge_calls_tota"),
        ("rlaif_judge_calls_total and nats_gone > 1", "no metric nats_gone"),
        ("rlaif_judge_call_seconds", "no metric rlaif_judge_call_seconds"),
        ('{__name__=~"rlaif_.+_check_of"} == 0', "no metric rlaif_.+_check_of"),
        ('rlaif_judge_calls_total{route="state"}', "rlaif_judge_calls_total has no label route"),
        ('rlaif_judge_calls_total{outcome="unheard"}', "nobody sets unheard"),
        ('rlaif_judge_check_ok{check=~"nats|gnats"}', "nobody sets gnats"),
        ("sum by (model) (rlaif_judge_calls_total)", "no label model to group by"),
    ],
)
def test_what_is_not_there_is_named(text, found):
    assert wrong(Expression("here", text)) == [found]


def test_a_metric_without_a_value_is_exposed_and_in_no_series():
    metrics = ServiceMetrics("judge")
    metrics.counter("calls", "Calls.", ("judge",))
    metrics.gauge("check_ok", "Checks.", ("check",)).labels("nats").set(0)
    names, series = exposed(metrics.exposition().decode())
    [call] = Expression("here", "rlaif_judge_calls_total").asked()
    [check] = Expression("here", 'rlaif_judge_check_ok{check=~"bus|nats"} == 0').asked()
    [other] = Expression("here", 'rlaif_judge_check_ok{check="store"} == 0').asked()
    assert {"rlaif_judge_calls_total", "rlaif_judge_check_ok"} <= names
    assert [each.is_in(series) for each in (call, check, other)] == [False, True, False]


def test_invalid_promql_is_named():
    with pytest.raises(ValueError, match="here: unclosed left parenthesis"):
        wrong(Expression("here", "sum(up"))


def test_rays_metrics_are_rays_own():
    place = importlib.util.find_spec("ray")
    assert place is not None
    assert place.submodule_search_locations is not None
    [home] = place.submodule_search_locations
    # What its own dashboards ask for, and what its agent on each node makes.
    texts = [
        *Path(home, "dashboard/modules/metrics/dashboards").glob("*.py"),
        *Path(home, "dashboard/modules/reporter").glob("*.py"),
    ]
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in texts)))
    names = {name for name in FOREIGN if name.startswith("ray_")}
    assert {name for name in names if not {name, name.removeprefix("ray_")} & words} == set()
