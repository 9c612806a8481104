"""Every command of docs/cluster.md, run against the rendered manifests of dev and prod.

kubectl, jq, make and the shell are real. `oc`, `aws`, `curl`, `git` and the container engine are
stand-ins that fail on what was not rendered: services, Secrets, their keys, buckets, labels, ports.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.testing.deployment import blocks, commands

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
STAND_IN = Path(__file__).with_name("cluster_stand_in.py")
NAMESPACES = {"dev": "zelda-rlaif-dev", "prod": "zelda-rlaif"}
GIVEN = {
    "REGISTRY_USER": "robot", "REGISTRY_PASSWORD": "p", "STORE_USER": "u", "STORE_PASSWORD": "s3-p",
    "MODEL_KEY": "k",
}  # fmt: skip
"""What a reader has: commands of the page ask for it by these names."""

pytestmark = [
    pytest.mark.timeout(1_200),
    pytest.mark.skipif(
        any(shutil.which(program) is None for program in ("kubectl", "jq", "openssl", "make")),
        reason="jq or openssl is not installed: on Debian, apt-get install jq openssl",
    ),
]


class Shell:
    """A folder with a copy of the tree, and stand-ins on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "zelda-rlaif"
        self.clone.mkdir()
        for name in ("Makefile", "VERSION"):
            shutil.copy2(ROOT / name, self.clone / name)
        ignored = shutil.ignore_patterns("__pycache__", "wheels", "mock-llm", "local", "servers")
        shutil.copytree(ROOT / "deploy", self.clone / "deploy", ignore=ignored)
        self.state = folder / "state"
        self.state.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        for name in ("oc", "aws", "curl", "git", "podman", "make"):
            file = programs / name
            file.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {name} "$@"\n')
            file.chmod(0o755)
        self.environment = os.environ | GIVEN | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "STAND_IN": str(self.state),
            "REAL_KUBECTL": str(shutil.which("kubectl")),
            "REAL_MAKE": str(shutil.which("make")),
            "CONTAINER_ENGINE": "podman",
            "PYTHON": sys.executable,
        }  # fmt: skip

    def run(self, script: str, *, within: Path | None = None) -> str:
        """Run a script as if pasted; a failing line ends it and is in the message."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=within or self.clone, env=self.environment, capture_output=True, text=True,
            timeout=1_000, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stderr[-3000:]}\n{done.stdout[-1000:]}"
        return done.stdout

    def endpoints(self) -> set[str]:
        """Where the AWS CLI was sent."""
        return set((self.state / "endpoints").read_text().split("\n")) - {""}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def install_block(page: str) -> str:
    (block,) = [each for each in blocks(page) if each.startswith("git clone")]
    return block


def session(environment: str) -> str:
    """All blocks of the page in their order, as one script for an environment."""
    script = []
    for block in blocks(PAGE):
        if block.startswith("ENVIRONMENT="):
            block = f"ENVIRONMENT={environment}\nNS={NAMESPACES[environment]}\n"
        elif block.startswith("git clone"):
            if environment != "dev":
                continue
            block = block.replace("&& cd zelda-rlaif", "")
        elif block.startswith("# needs "):
            part = block.splitlines()[0].removeprefix("# needs ")
            block = f"export STAND_IN_PLATFORM='{part}'\n{block}\nunset STAND_IN_PLATFORM\n"
        script.append(block)
    return "\n".join(script)


def test_the_readme_and_the_page_show_the_same_way_to_dev_in_at_most_six_commands():
    assert install_block(README) == install_block(PAGE)
    assert len(commands(f"```bash\n{install_block(PAGE)}```")) <= 6


def test_six_commands_after_a_clone_everything_that_dev_needs_is_there(shell):
    shell.run(install_block(README), within=shell.folder)
    shell.run("oc project zelda-rlaif-dev && oc wait job/bootstrap --for=condition=complete")
    for name in ("trainer", "exporter", "judge", "reward-model", "hud", "mock-llm"):
        shell.run(f"oc rollout status deployment/{name}")
    told = shell.run("make validate VALIDATE_ARGS='--fill-in overlays/dev'")
    assert "your-organisation" in told  # the page's own registry is a placeholder
    assert "sha256:000" not in told


@pytest.mark.parametrize(
    ("environment", "endpoint"),
    [("dev", "http://127.0.0.1:9000"), ("prod", "https://s3-openshift-storage.apps.example.org")],
)
def test_every_command_of_the_page_names_what_is_there(shell, environment, endpoint):
    shell.run("oc apply -k deploy/argocd -l x!=y")
    if environment == "prod":
        shell.environment["STAND_IN_PLATFORM"] = "KubeRay, OpenShift AI"
        shell.run("oc apply -k deploy/cluster/namespaces && oc project zelda-rlaif")
        shell.run("oc apply -k deploy/overlays/prod")
    said = shell.run(session(environment))
    assert shell.endpoints() == {endpoint}
    assert "s3-p" not in said
    assert (shell.clone / "backup/nats.tar").exists()


def test_a_restore_finds_an_empty_namespace_and_fills_the_store_before_a_service_starts(shell):
    shell.run("oc new-project zelda-rlaif-dev && make deploy-secrets NAMESPACE=zelda-rlaif-dev")
    page = PAGE.partition("**Restore, into an empty namespace.**")[2]
    first = f"ENVIRONMENT=dev NS=zelda-rlaif-dev\n{blocks(page)[0]}"
    shell.run(first)
    listed = shell.run("oc get deployments -l app.kubernetes.io/component=service")
    assert listed == ""
    assert "rlaif-config-" in shell.run(
        "oc get cronjob make-room -o jsonpath="
        "'{.spec.jobTemplate.spec.template.spec.containers[0].envFrom[0].configMapRef.name}'"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        "oc rollout status deployment/hub",
        "oc get secret rlaif-s4 -o json",
        "oc get rayclusters",
        "oc port-forward deployment/trainer 8091",
        "aws s3 ls s3://zelda-rlaif/",
        "oc scale deployment -l app.kubernetes.io/name=nobody --replicas=0",
        "oc apply -k deploy/overlays/test",
        "oc create -k deploy/overlays/dev -l app.kubernetes.io/component=nothing",
        "oc wait pod -l app.kubernetes.io/component=service --for=delete",
    ],
)
def test_the_stand_in_refuses_what_is_not_there(shell, wrong):
    shell.run("oc new-project zelda-rlaif-dev && make deploy-secrets NAMESPACE=zelda-rlaif-dev")
    shell.run("oc apply -k deploy/overlays/dev")
    with pytest.raises(AssertionError):
        shell.run(wrong)
