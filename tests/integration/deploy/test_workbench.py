"""The Workbench notebook, run as it is against a stand-in for the API server.

Needs the CodeFlare SDK, which nothing but `make workbench-test` installs: in an environment of its
own, because it pins another Ray. What the notebook sends to the cluster is read here.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKBENCH = ROOT / "deploy/workbench"
NOTEBOOK = WORKBENCH / "zelda_rl.ipynb"
PYTHON = Path(os.environ.get("WORKBENCH_PYTHON", ROOT / ".venv-workbench/bin/python"))
VALIDATOR = ROOT.parent / "shared/crds/validate.py"

NAMESPACE = "zelda-rlaif-dev"
DIGEST = "0" * 64
IMAGE = f"quay.io/acme/zelda-rlaif/trainer@sha256:{DIGEST}"


@pytest.fixture
def python() -> Path:
    if not PYTHON.exists():
        reason = f"no CodeFlare SDK: {PYTHON} is not there; make workbench-test makes it"
        if os.environ.get("REQUIRE_WORKBENCH"):
            pytest.fail(reason)
        pytest.skip(reason)
    return PYTHON


@pytest.fixture
async def run(python: Path, api_server: Any, tmp_path: Path) -> Any:
    """The notebook, run from its first cell to its last; the outputs' text, by cell."""
    for name, made in (("rlaif-config-old", "2026-01-01"), ("rlaif-config-new", "2026-02-01")):
        api_server.objects[NAMESPACE, "configmaps", name] = {
            "metadata": {"name": name, "creationTimestamp": f"{made}T00:00:00Z"}
        }
    api_server.objects[NAMESPACE, "localqueues", "training"] = {"metadata": {"name": "training"}}
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
    done = tmp_path / "done.ipynb"
    process = await asyncio.create_subprocess_exec(
        str(python.parent / "jupyter-execute"), "--timeout=120", f"--output={done}", str(NOTEBOOK),
        env=environment, cwd=tmp_path, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await asyncio.wait_for(process.communicate(), 200)
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


async def test_the_notebook_goes_up_submits_watches_and_goes_down(run, api_server):
    text = text_of(run)
    print(text)
    assert [each["kind"] for each in api_server.sent] == ["RayCluster", "RayJob", "RayJob"]
    assert api_server.objects.keys() & {("x", "rayclusters", "zelda")} == set()
