"""The Workbench notebook, run as it is against a stand-in for the API server.

Needs the CodeFlare SDK, which nothing but `make workbench-test` installs: in an environment of its
own, because it pins another Ray. What the notebook sends to the cluster is read here.
"""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKBENCH = ROOT / "deploy/workbench"
NOTEBOOK = WORKBENCH / "zelda_rl.ipynb"
PYTHON = Path(os.environ.get("WORKBENCH_PYTHON", ROOT / ".venv-workbench/bin/python"))
VALIDATORS = Path(os.environ.get("CRD_VALIDATORS", ROOT.parent / "shared/crds"))

NAMESPACE = "zelda-rlaif-dev"
DIGEST = "0" * 64
IMAGE = f"quay.io/acme/zelda-rlaif/trainer@sha256:{DIGEST}"


@pytest.fixture
def python() -> Path:
    if not PYTHON.exists():
        reason = "the CodeFlare SDK is not installed: make workbench-test installs it"
        if os.environ.get("REQUIRE_WORKBENCH"):
            pytest.fail(reason)
        pytest.skip(reason)
    return PYTHON


@pytest.fixture(params=[None, "training"], ids=["without-a-queue", "in-a-queue"])
def queue(request: pytest.FixtureRequest) -> str | None:
    """The LocalQueue of the namespace: dev and staging have none, and the notebook needs none."""
    return request.param


@pytest.fixture
async def run(python: Path, api_server: Any, queue: str | None, tmp_path: Path) -> Any:
    """The notebook, run from its first cell to its last; the outputs' text, by cell."""
    for name, made in (("rlaif-config-old", "2026-01-01"), ("rlaif-config-new", "2026-02-01")):
        api_server.objects[NAMESPACE, "configmaps", name] = {
            "metadata": {"name": name, "creationTimestamp": f"{made}T00:00:00Z"}
        }
    if queue:
        api_server.objects[NAMESPACE, "localqueues", queue] = {"metadata": {"name": queue}}
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(_kubeconfig(api_server.url))
    environment = {
        "PATH": f"{python.parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(kubeconfig),
        "PYTHONPATH": str(WORKBENCH),
        "WORKBENCH_IMAGE": IMAGE,
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter"),
    }
    if queue:
        environment["WORKBENCH_QUEUE"] = queue
    done = tmp_path / "done.ipynb"
    process = await asyncio.create_subprocess_exec(
        str(python.parent / "jupyter-execute"), "--timeout=200", "--startup_timeout=120",
        f"--output={done}", str(NOTEBOOK),
        env=environment, cwd=tmp_path, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await asyncio.wait_for(process.communicate(), 280)
    assert process.returncode == 0, said.decode()[-3000:]
    return json.loads(done.read_text())


def _kubeconfig(url: str) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "clusters": [{"name": "x", "cluster": {"server": url}}],
            "users": [{"name": "x", "user": {"token": "t"}}],
            "contexts": [
                {"name": "x", "context": {"cluster": "x", "user": "x", "namespace": NAMESPACE}}
            ],
        }
    )


def text_of(notebook: dict[str, Any]) -> str:
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", ())]
    return "\n".join("".join(out.get("text", "")) for out in outputs)


async def test_the_notebook_goes_up_submits_watches_and_goes_down(run, api_server, queue, tmp_path):
    text = text_of(run)
    cluster, epoch, pipeline = api_server.sent
    assert [each["metadata"]["name"] for each in api_server.sent] == [
        "zelda", "zelda-epoch", "zelda-pipeline",
    ]  # fmt: skip
    assert {each["metadata"]["namespace"] for each in api_server.sent} == {NAMESPACE}
    for job in ("zelda-epoch", "zelda-pipeline"):
        assert re.search(f"{job} RUNNING.*{job} COMPLETE", text, re.DOTALL)
    assert [name for _, _, name in api_server.deleted] == ["zelda-pipeline", "zelda-epoch", "zelda"]
    assert "error" not in text.lower()

    # A queue takes a cluster that stays, or a job that brings its own; never a job on a cluster.
    label = "kueue.x-k8s.io/queue-name"
    assert cluster["metadata"]["labels"].get(label) == queue
    assert label not in epoch["metadata"]["labels"]
    assert epoch["spec"]["clusterSelector"] == {"ray.io/cluster": "zelda"}
    assert pipeline["metadata"]["labels"].get(label) == queue
    assert pipeline["spec"]["shutdownAfterJobFinishes"] is True

    specs = [cluster["spec"], pipeline["spec"]["rayClusterSpec"]]
    for spec in specs:
        assert spec["headGroupSpec"]["template"]["spec"]["automountServiceAccountToken"] is True
        (workers,) = spec["workerGroupSpecs"]
        assert workers["template"]["spec"]["automountServiceAccountToken"] is False
        cpus = workers["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        assert workers["replicas"] * int(cpus) == 8
    assert yaml.safe_load(epoch["spec"]["runtimeEnvYAML"])["env_vars"]["RAY_WORKERS"] == "8"
    for pod in [each for spec in specs for each in pods_of(spec)]:
        check_pod(pod)
    for job in (epoch, pipeline):
        submitter = job["spec"]["submitterPodTemplate"]
        assert submitter["metadata"]["labels"]["app.kubernetes.io/name"] == "ray-submitter"
        assert submitter["spec"]["containers"][0]["image"] == IMAGE
    assert_no_secret(api_server.sent)
    written = yaml.safe_load((tmp_path / ".codeflare/resources/zelda.yaml").read_text())
    assert written["spec"] == cluster["spec"]
    validate(api_server.sent, tmp_path)


def pods_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [group["template"] for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"])]


def check_pod(pod: dict[str, Any]) -> None:
    """A pod that the NetworkPolicies know, with our image, and settings and keys by reference."""
    assert pod["metadata"]["labels"]["app.kubernetes.io/name"] == "ray"
    (container,) = pod["spec"]["containers"]
    assert container["image"] == IMAGE
    sources = [next(iter(each.values()))["name"] for each in container["envFrom"]]
    of_the_trainer = ["rlaif-nats-trainer", "rlaif-s3", "rlaif-s3-trainer"]
    assert sources == ["rlaif-config-new", *of_the_trainer, "rlaif-api", "rlaif-llm"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True


def assert_no_secret(sent: list[dict[str, Any]]) -> None:
    words = set(re.findall(r"\w+", json.dumps(sent)))
    assert words & {"NATS_URL", "S3_ACCESS_KEY", "S3_SECRET_KEY", "RLAIF_API_TOKEN"} == set()


def validate(sent: list[dict[str, Any]], folder: Path) -> None:
    """Against the schemas of KubeRay, where they lie beside the project, and can be read."""
    validator = VALIDATORS / "validate.py"
    if not validator.exists() or importlib.util.find_spec("kubernetes_validate") is None:
        return
    stream = folder / "sent.yaml"
    stream.write_text(yaml.safe_dump_all(sent))
    for variant in ((), ("--variant", "ocp-4.20", "--variant", "rhoai-3.4")):
        command = [sys.executable, str(validator), *variant, str(stream)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_holds_no_output_and_no_token():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert "sha256~" not in NOTEBOOK.read_text()  # how a token of OpenShift begins


def test_the_sdk_is_the_one_that_the_pages_name():
    (pinned,) = re.findall(
        r"^codeflare-sdk==(.+)$", (WORKBENCH / "requirements.txt").read_text(), re.M
    )
    for page in (NOTEBOOK, WORKBENCH / "README.md"):
        assert set(re.findall(r"CodeFlare SDK (\d[\d.]*\d)", page.read_text())) == {pinned}


def test_ray_of_the_cluster_is_the_one_that_is_pinned():
    (pinned,) = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(), re.M)
    job = yaml.safe_load((ROOT / "deploy/jobs/train/rayjob.yaml").read_text())
    assert job["spec"]["rayClusterSpec"]["rayVersion"] == pinned
    assert f"Ray {pinned}" in (WORKBENCH / "README.md").read_text()
