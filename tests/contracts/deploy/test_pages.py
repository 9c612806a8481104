"""The commands of the pages, as far as they can be checked without containers and a cluster."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlaif.servers.identities import names
from rlaif.testing.deployment import blocks, commands

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
CLUSTER = ROOT / "docs/cluster.md"
MAP = ROOT / "deploy/README.md"
COMPOSE = ROOT / "docker-compose.yml"
PAGES = [README, CLUSTER, *sorted((ROOT / "deploy").rglob("*.md"))]
ENVIRONMENTS = ("dev", "staging", "prod")
JOBS = {
    "pipeline": ("RayJob", "rlaif train --mode pipeline"),
    "epoch": ("RayJob", "rlaif train --mode epoch"),
    "evaluation": ("RayJob", "rlaif train --mode evaluation"),
    "judge-epoch": ("Job", "rlaif judge-epoch"),
}
"""Folder of deploy/jobs: what it sends, and what that runs."""


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def shell(command: str, *, given: str = "") -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        input=given, cwd=ROOT, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def rendered(folder: str) -> list[dict[str, Any]]:
    """The objects of a folder of deploy/."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed: make setup-dev installs it into .venv")
    return list(yaml.safe_load_all(shell(f"kubectl kustomize deploy/{folder}")))


# --- what the commands name -----------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_in_a_command_exists(page: Path) -> None:
    gone = []
    for command in commands(text(page)):
        for path in re.findall(r"(?<![\w/.-])(?:deploy|docs|tests)/[\w./$-]+", command):
            for environment, job in product(ENVIRONMENTS, JOBS):
                full = path.replace("$ENVIRONMENT", environment).replace("$JOB", job)
                if not (ROOT / full).exists():
                    gone.append(full)
    assert gone == []


def test_every_folder_of_deploy_is_in_the_table_and_the_other_way_round() -> None:
    told = set(re.findall(r"^\| `([\w-]+)/` \|", text(MAP), re.MULTILINE))
    there = {each.name for each in (ROOT / "deploy").iterdir() if each.is_dir()}
    assert told == there


def test_the_readme_starts_what_compose_has() -> None:
    said = [each for each in commands(text(README)) if "compose" in each]
    assert any(each.startswith("docker compose up --wait") for each in said)
    services = yaml.safe_load(text(COMPOSE))["services"]
    (port,) = services["hud"]["ports"]
    assert re.search(r"^127\.0\.0\.1:.*8086\}?:8086$", port)
    profiles = {name for each in services.values() for name in each.get("profiles", ())}
    assert set(re.findall(r"--profile (\S+)", text(README))) <= profiles
    # The documented command starts the pipeline, and no profile.
    plain = {name for name, each in services.items() if "profiles" not in each}
    assert {"nats", "s3", "trainer", "exporter", "judge", "reward-model", "hud"} <= plain


# --- what is rendered -----------------------------------------------------------------------------


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_overlay_renders_without_a_cluster(environment: str) -> None:
    names = {each["metadata"]["name"] for each in rendered(f"overlays/{environment}")}
    assert {"nats", "trainer", "exporter", "judge", "reward-model", "hud", "bootstrap"} <= names


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("job", JOBS)
def test_the_page_sends_one_job_and_nothing_else(job: str, environment: str) -> None:
    (sent,) = labelled(rendered(f"jobs/{environment}/{job}"))
    kind, runs = JOBS[job]
    assert sent["kind"] == kind
    assert runs in runs_of(sent)


def labelled(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the page's selector takes out of them."""
    (selector,) = [each for each in commands(text(CLUSTER)) if each.startswith("ONLY=")]
    name, value = selector.split("#")[0].strip().removeprefix("ONLY=").split("=")
    return [each for each in objects if each["metadata"].get("labels", {}).get(name) == value]


def runs_of(job: dict[str, Any]) -> str:
    if job["kind"] == "RayJob":
        return str(job["spec"]["entrypoint"])
    return " ".join(job["spec"]["template"]["spec"]["containers"][0]["command"])


def test_another_epoch_is_judged_by_the_command_of_the_page() -> None:
    rendered("overlays/dev")  # skips where nothing can be rendered
    (command,) = [each for each in commands(text(CLUSTER)) if "judge-epoch-3" in each]
    command = command.replace("$ENVIRONMENT", "dev").split("| oc create")[0]
    command = command.replace("oc kustomize", "kubectl kustomize")
    (sent,) = labelled(list(yaml.safe_load_all(shell(command))))
    assert sent["metadata"]["name"] == "judge-epoch-3"
    assert runs_of(sent) == "rlaif judge-epoch --epoch 3"


# --- secrets --------------------------------------------------------------------------------------


def test_the_table_of_secrets_has_every_one_that_is_asked_for_with_its_keys() -> None:
    asked = {name for environment in ENVIRONMENTS for name in asked_of(environment)}
    table = text(CLUSTER).partition("### Secrets")[2].partition("###")[0]
    rows = dict(re.findall(r"^\| `(rlaif-[\w-]+)` \| ([^|]+)", table, re.MULTILINE))
    assert set(rows) == asked
    named = {name: set(re.findall(r"`([A-Z0-9_]+)`", keys)) for name, keys in rows.items()}
    assert named == expected_keys()


def asked_of(environment: str) -> set[str]:
    return set(re.findall(r"'name': '(rlaif-(?!config)[\w-]+)'", str(references(environment))))


def references(environment: str) -> list[Any]:
    """Every `secretRef` and `secretKeyRef` of an overlay."""

    def within(node: Any) -> list[Any]:
        if isinstance(node, dict):
            own = [node[name] for name in ("secretRef", "secretKeyRef") if name in node]
            return own + [each for value in node.values() for each in within(value)]
        return [each for value in node for each in within(value)] if isinstance(node, list) else []

    return within(rendered(f"overlays/{environment}"))


def expected_keys() -> dict[str, set[str]]:
    """Name of a Secret → its keys, as the vault's component makes them."""
    keys = {}
    for path in (ROOT / "deploy/components/secrets-external").glob("*.yaml"):
        for each in yaml.safe_load_all(text(path)):
            if each.get("kind") == "ExternalSecret":
                spec = each["spec"]
                template = (spec["target"].get("template") or {}).get("data")
                found = set(template or (it["secretKey"] for it in spec["data"]))
                keys[spec["target"]["name"]] = found
    return keys | {f"rlaif-s3-{name}": keys["rlaif-s3"] for name in names()}


# --- what the cluster page names ------------------------------------------------------------------

KINDS = (
    "Deployment", "StatefulSet", "Service", "Job", "RayJob", "RayCluster", "CronJob", "Secret",
    "Pod", "PersistentVolumeClaim", "Route",
)  # fmt: skip
NAMED = re.compile(rf"\b({'|'.join(KINDS).lower()})[/ ]([a-z][a-z0-9-]*)")
MADE_HERE = {("secret", "docker-registry"), ("pod", "copy"), ("rayjob", "evaluation-1")}
"""What the commands of the page make themselves."""


def on_cluster() -> Iterator[tuple[str, str]]:
    """Kind and name of all that overlays and jobs bring, and of what is made of that."""
    folders = [f"overlays/{each}" for each in ENVIRONMENTS] + [f"jobs/dev/{job}" for job in JOBS]
    for each in (each for folder in folders for each in rendered(folder)):
        kind, name = each["kind"].lower(), each["metadata"]["name"]
        yield kind, name
        if kind == "rayjob":
            yield "job", name  # its submitter
        for claim in each.get("spec", {}).get("volumeClaimTemplates", ()):
            yield "persistentvolumeclaim", f"{claim['metadata']['name']}-{name}-0"
    yield from (("secret", name) for environment in ENVIRONMENTS for name in asked_of(environment))


def of_this_project(page: Path) -> list[str]:
    """Commands without their comments; those for a platform's own namespaces are left out."""
    plain = [re.sub(r" +# .*", "", each) for each in commands(text(page))]
    return [each for each in plain if not re.search(r"-n (openshift|redhat)", each)]


def test_the_readme_and_the_page_show_the_same_way_to_dev_in_at_most_six_commands() -> None:
    (readme,), (page,) = (
        [each for each in blocks(text(path)) if each.startswith("git clone")]
        for path in (README, CLUSTER)
    )
    assert readme == page
    assert len(commands(f"```bash\n{page}```")) <= 6


def test_every_object_that_the_page_names_is_there() -> None:
    named = {found for each in of_this_project(CLUSTER) for found in NAMED.findall(each)}
    assert len(named) > 15
    assert named - MADE_HERE - set(on_cluster()) == set()


def test_every_selector_of_the_page_finds_something() -> None:
    there = str([rendered(f"overlays/{each}") for each in ENVIRONMENTS])
    there += str([rendered(f"jobs/dev/{job}") for job in JOBS])
    for command in of_this_project(CLUSTER):
        for name, value in re.findall(r"(app\.kubernetes\.io/[\w-]+)!?=([\w-]+)", command):
            assert f"'{name}': '{value}'" in there, command


def test_no_two_tunnels_of_the_page_take_one_local_port_and_every_request_has_one() -> None:
    tunnels = [each for each in commands(text(CLUSTER)) if "port-forward" in each]
    opened = {
        (port, each.partition("port-forward")[2].split("#")[0].split()[0])
        for each in tunnels
        for port in re.findall(r" (\d+)(?::\d+)?(?= )", each)
    }
    ports = [port for port, _ in opened]
    assert len(set(ports)) == len(ports), opened
    outside = re.sub(r"oc exec .*", "", "\n".join(commands(text(CLUSTER))))
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", outside)) <= set(ports)


def test_a_block_of_the_page_creates_one_job() -> None:
    for block in blocks(text(CLUSTER)):
        assert block.count("oc create -k") <= 1, block


def test_a_forwarded_port_is_one_that_listens() -> None:
    forwarded = re.findall(r"port-forward.* (\w+)/(\w+) (\d+)", "\n".join(commands(text(CLUSTER))))
    assert forwarded
    for kind, name, port in forwarded:
        (target,) = [
            each for each in rendered("overlays/dev")
            if (each["kind"].lower(), each["metadata"]["name"]) == (kind, name)
        ]  # fmt: skip
        assert re.search(rf"'(containerPort|port)': {port}\b", str(target)), (name, port)


def test_settings_and_keys_of_the_store_are_read_by_their_names() -> None:
    objects = rendered("overlays/dev")
    (room,) = [each for each in objects if each["metadata"]["name"] == "make-room"]
    pod = room["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    config = pod["containers"][0]["envFrom"][0]["configMapRef"]["name"]
    (values,) = [each["data"] for each in objects if each["metadata"]["name"] == config]
    assert set(re.findall(r"\$\(setting (\w+)\)", text(CLUSTER))) <= set(values)
    known = expected_keys()["rlaif-s3"] | {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert set(re.findall(r"\$\(key (\w+)\)", text(CLUSTER))) <= known


# --- images ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder", [*(f"overlays/{each}" for each in ENVIRONMENTS), *(f"jobs/dev/{job}" for job in JOBS)]
)
def test_an_image_has_what_its_container_runs(folder: str) -> None:
    containerfile = ROOT / "deploy/containers/Containerfile"
    (services,) = re.findall(r'^ARG SERVICE="(.+)"$', text(containerfile), re.MULTILINE)
    modules = {
        "service": {name.replace("-", "_") for name in (*services.split(), "bootstrap")},
        "reward-model": {"reward_model", "bootstrap"},
        "trainer": {"trainer"},
    }
    wrong = []
    for each in rendered(folder):
        for container in containers(each):
            image = re.split(r"[@:]", container.get("image", ""))[0].rpartition("zelda-rlaif-")[2]
            for module in re.findall(r"rlaif\.(\w+)", " ".join(container.get("command", ()))):
                if module not in modules[image]:
                    wrong.append(f"{each['metadata']['name']}: no {module} in {image}")
    assert wrong == []


def containers(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        own = node.get("containers") if isinstance(node.get("containers"), list) else []
        return (own or []) + [each for value in node.values() for each in containers(value)]
    return [each for value in node for each in containers(value)] if isinstance(node, list) else []
