"""Alerts fire and do not fire, are documented, and are the same ones in every place."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlaif.bus.topology import TopologySettings, stream_config
from rlaif.contracts.catalog import STREAMS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
MONITORING = DEPLOY / "monitoring"
RULES = sorted((MONITORING / "rules").glob("*.yaml"))
TESTS = sorted((MONITORING / "rules/tests").glob("*.yaml"))
PAGE = "docs/operations/alerts.md"
GENERATOR = MONITORING / "generate.py"

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is not installed: on Debian, apt-get install prometheus"
)
ENTRY = re.compile(r"^- \*\*(?P<alert>\w+)\*\* \((?P<severity>\w+)\): ", re.MULTILINE)
IN_TEST = re.compile(r'alertname="(\w+)"')


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


ALERTS = [rule for path in RULES for group in read(path)["groups"] for rule in group["rules"]]


def section(anchor: str) -> str:
    """The text under a heading of the page, by the anchor that GitHub generates for it."""
    parts = re.split(r"^(#{2,4} .+)$", (ROOT / PAGE).read_text(), flags=re.MULTILINE)
    slugs = {
        re.sub(r"[^\w -]", "", h.strip("# ")).lower().replace(" ", "-"): h for h in parts[1::2]
    }
    return dict(zip(parts[1::2], parts[2::2], strict=True))[slugs[anchor]]


def promtool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run(
        [PROMTOOL, *words], capture_output=True, text=True, timeout=120, check=False
    )


@needs_promtool
def test_promtool_finds_no_fault_in_the_rules():
    done = promtool("check", "rules", *RULES)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts_do_what_their_tests_say(path):
    done = promtool("test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_an_alert_that_does_not_fire_is_found(tmp_path):
    shutil.copytree(MONITORING / "rules", tmp_path / "rules")
    rules = tmp_path / "rules/disk.yaml"
    rules.write_text(rules.read_text().replace("== 0", "== 7"))
    assert promtool("test", "rules", tmp_path / "rules/tests/disk.yaml").returncode == 1


@needs_promtool
def test_prometheus_takes_the_configuration_of_compose():
    # The folder of the rules is where the container has it.
    done = promtool("check", "config", "--syntax-only", MONITORING / "prometheus/prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def named(test: dict[str, str]) -> list[str]:
    """The alert that an expression of a promtool test is about."""
    return IN_TEST.findall(test["expr"])


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_each_alert_is_seen_to_fire_and_not_to(path):
    tests = read(path.parent / "tests" / path.name)
    assert tests["rule_files"] == [f"../{path.name}"]
    asked = [each for group in tests["tests"] for each in group["promql_expr_test"]]
    fires = {name for each in asked if each.get("exp_samples") for name in named(each)}
    silent = {name for each in asked if not each.get("exp_samples") for name in named(each)}
    alerts = {rule["alert"] for group in read(path)["groups"] for rule in group["rules"]}
    assert (fires, silent) == (alerts, alerts)


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_it_means_and_where_the_remedy_is(rule):
    notes = rule["annotations"]
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert notes["summary"].endswith(".")
    assert notes["description"].endswith(".")
    page, _, anchor = notes["runbook"].partition("#")
    assert page == PAGE
    rows = {row["alert"]: row["severity"] for row in ENTRY.finditer(section(anchor))}
    assert rows.get(rule["alert"]) == rule["labels"]["severity"]


def test_the_page_lists_exactly_the_alerts_that_exist():
    listed = [row["alert"] for row in ENTRY.finditer((ROOT / PAGE).read_text())]
    assert sorted(listed) == sorted(rule["alert"] for rule in ALERTS)


def rule_of(alert: str) -> str:
    """The expression of an alert."""
    (found,) = [str(rule["expr"]) for rule in ALERTS if rule["alert"] == alert]
    return found


def test_a_stream_is_measured_by_its_own_limit():
    limits = {
        name: stream_config(name, TopologySettings()).max_bytes
        for name, stream in STREAMS.items()
        if not stream.drops_oldest
    }
    asked = {
        name: int(limit)
        for names, limit in re.findall(
            r'stream_name=~?"([^"]+)".*?\) / (\d+) >', rule_of("StreamNearlyFull"), re.DOTALL
        )
        for name in names.split("|")
    }
    assert asked == limits


def test_jobs_and_volumes_are_asked_for_by_the_names_of_the_manifests():
    jobs = {path.name for path in (DEPLOY / "jobs/dev").iterdir()} | {"bootstrap"}
    (pattern,) = re.findall(r'job_name=~"([^"]+)"', rule_of("JobFailed"))
    assert {name for name in jobs if re.fullmatch(pattern, f"{name}-1".replace("p-1", "p"))} == jobs
    claims = {"trainer-data"}  # base/trainer/volume-claim.yaml
    for path in (DEPLOY / "base/nats", DEPLOY / "components/s3-seaweedfs"):
        stateful = read(path / "statefulset.yaml")
        for claim in stateful["spec"]["volumeClaimTemplates"]:
            claims.add(f"{claim['metadata']['name']}-{stateful['metadata']['name']}-0")
    (pattern,) = re.findall(r'persistentvolumeclaim=~"([^"]+)"', rule_of("VolumeNearlyFull"))
    assert {name for name in claims if re.fullmatch(pattern, name)} == claims
    assert pattern in re.findall(r'persistentvolumeclaim=~"([^"]+)"', rule_of("VolumePending"))
    assert read(DEPLOY / "base/trainer/volume-claim.yaml")["metadata"]["name"] in claims
    assert read(DEPLOY / "base/bootstrap/make-room.yaml")["metadata"]["name"] == "make-room"


def names_in(*patterns: str) -> set[str]:
    """Names in the manifests of these files; model servers are not the product's own."""
    files = (path for pattern in patterns for path in DEPLOY.glob(pattern))
    return {read(path)["metadata"]["name"] for path in files if "/llm-" not in path.as_posix()}


def test_pods_and_certificates_are_asked_for_by_the_names_of_the_manifests():
    workloads = ("*/*/deployment.yaml", "*/*/statefulset.yaml", "*/*/raycluster.yaml")
    pods = {*names_in(*workloads), *(path.name for path in (DEPLOY / "jobs/dev").iterdir())}
    (pattern,) = re.findall(r'pod=~"([^"]+)"', rule_of("PodPending"))
    assert {name for name in pods if re.fullmatch(pattern, f"{name}-0")} == pods
    for alert in ("CertificateExpires", "CertificateNotReady"):
        (pattern,) = re.findall(r'name=~"([^"]+)"', rule_of(alert))
        assert set(pattern.split("|")) == names_in("components/tls-nats/certificate*.yaml")


def test_the_rules_of_certificates_are_where_cert_manager_is_measured():
    platform = DEPLOY / "cluster/platform"
    monitor, rules = (
        read(platform / "certificates.yaml"),
        read(platform / "certificate-alerts.yaml"),
    )
    assert monitor["metadata"]["namespace"] == rules["metadata"]["namespace"]
    listed = set(read(platform / "kustomization.yaml")["resources"])
    assert {"certificates.yaml", "certificate-alerts.yaml"} <= listed


def test_compose_and_the_monitors_measure_the_jobs_that_are_asked_for():
    compose = {
        each["job_name"]
        for each in read(MONITORING / "prometheus/prometheus.yml")["scrape_configs"]
    }
    services = read(DEPLOY / "components/monitoring/services.yaml")["spec"]
    [chosen] = services["selector"]["matchExpressions"]
    nats = read(DEPLOY / "components/monitoring/nats.yaml")["spec"]
    assert {services["jobLabel"], nats["jobLabel"]} == {"app.kubernetes.io/name"}
    measured = {*chosen["values"], nats["selector"]["matchLabels"]["app.kubernetes.io/name"]}
    assert compose == measured
    asked = {
        job
        for rule in ALERTS
        for value in re.findall(r'\bjob=~?"([^"]+)"', rule["expr"])
        for job in value.split("|")
    }
    assert asked <= compose


def generate(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, timeout=60, check=False
    )


def test_dashboards_and_objects_are_what_the_generator_writes():
    done = generate(GENERATOR, "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_differs_is_missing_or_too_much_is_named(tmp_path):
    deploy = tmp_path / "deploy"
    shutil.copytree(MONITORING, deploy / "monitoring")
    for name in ("components/monitoring", "components/grafana", "cluster/platform"):
        shutil.copytree(DEPLOY / name, deploy / name)
    rules = deploy / "components/monitoring/rules.yaml"
    rules.write_text(rules.read_text().replace("severity: critical", "severity: info"))
    (deploy / "monitoring/dashboards/loop.json").unlink()
    (deploy / "monitoring/dashboards/old.json").write_text("{}")
    script = deploy / "monitoring/generate.py"
    done = generate(script, "--check")
    assert done.returncode == 1
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        "monitoring/dashboards/loop.json",
        "components/monitoring/rules.yaml",
        "monitoring/dashboards/old.json",
    ]
    assert generate(script).returncode == 0
    assert generate(script, "--check").returncode == 0


def test_every_dashboard_is_in_the_config_map_and_has_its_object():
    boards = {path.name for path in (MONITORING / "dashboards").glob("*.json")}
    [config] = read(MONITORING / "dashboards/kustomization.yaml")["configMapGenerator"]
    assert set(config["files"]) == boards
    listed = read(DEPLOY / "components/grafana/kustomization.yaml")["resources"]
    objects = [read(DEPLOY / "components/grafana" / name) for name in listed]
    refs = [each["spec"]["configMapRef"] for each in objects if each["kind"] == "GrafanaDashboard"]
    assert {ref["key"] for ref in refs} == boards
    assert {ref["name"] for ref in refs} == {config["name"]}


@pytest.mark.parametrize(
    "path", sorted((MONITORING / "dashboards").glob("*.json")), ids=lambda path: path.stem
)
def test_panels_lie_side_by_side_and_have_titles_of_their_own(path):
    panels = json.loads(path.read_text())["panels"]
    titles = [panel["title"] for panel in panels if panel["type"] != "row"]
    assert len(set(titles)) == len(titles)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells
