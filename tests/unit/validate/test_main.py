"""`make validate` from its options to its exit code, with a Kustomize that prints a file."""

from pathlib import Path

import pytest
import yaml

pytest.importorskip(
    "kubernetes_validate",
    reason="kubernetes-validate is not installed: make setup-dev installs it into .venv",
)

from rlaif.validate.__main__ import FAILED, NOT_CHECKED, PASSED, main
from rlaif.validate.rendering import find_kustomize


@pytest.fixture
def deploy(tmp_path, monkeypatch) -> Path:
    """A folder with a base and one overlay; its manifests are what `put` writes."""
    folder = tmp_path / "deploy"
    for name in ("base", "components/image-pins", "overlays/dev"):
        (folder / name).mkdir(parents=True)
        kind = "Component" if name.startswith("components") else "Kustomization"
        (folder / name / "kustomization.yaml").write_text(f"kind: {kind}\n")
    program = tmp_path / "bin/kubectl"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/stream.yaml\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return folder


@pytest.fixture
def put(tmp_path):
    def write(manifests) -> None:
        (tmp_path / "stream.yaml").write_text(yaml.safe_dump_all(manifests))

    return write


def run(deploy, *options) -> int:
    return main(["--deploy", str(deploy), *options])


def test_manifests_without_errors_pass(deploy, put, stream, capsys):
    put(stream)
    assert run(deploy) == PASSED
    assert "2 streams, 4 objects: 0 errors" in capsys.readouterr().out


def test_a_broken_rule_fails_it(deploy, put, stream, container, capsys):
    container["image"] = "nats:latest"
    put(stream)
    assert run(deploy) == FAILED
    assert "image nats:latest is not pinned" in capsys.readouterr().out


def test_a_field_that_kubernetes_does_not_know_fails_it(deploy, put, stream, deployment, capsys):
    deployment["spec"]["replica"] = 2
    put(stream)
    assert run(deploy) == FAILED
    assert "Deployment/judge spec (Kubernetes 1.33)" in capsys.readouterr().out


def test_a_folder_that_does_not_render_fails_it(deploy, put, stream, tmp_path, capsys):
    (tmp_path / "bin/kubectl").write_text("#!/bin/sh\necho no such file >&2\nexit 1\n")
    assert run(deploy) == FAILED
    assert "it does not render: no such file" in capsys.readouterr().out


def test_what_renders_differently_the_second_time_fails_it(deploy, tmp_path, capsys):
    (tmp_path / "bin/kubectl").write_text("#!/bin/sh\necho 'kind: X' && echo \"n: $$\"\n")
    assert run(deploy, "overlays") == FAILED
    assert "two renderings differ" in capsys.readouterr().out


def test_without_kustomize_it_says_what_to_install(
    deploy, put, stream, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert run(deploy) == NOT_CHECKED
    assert "make setup" in capsys.readouterr().err


def test_without_kustomize_on_path_it_takes_the_kubectl_of_its_environment(
    deploy, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin/python"))
    assert find_kustomize() == [str(tmp_path / "bin/kubectl"), "kustomize"]


def test_it_lists_what_is_to_be_filled_in(deploy, put, stream, container, capsys):
    container["image"] = "quay.io/your-organisation/x@sha256:" + "0" * 64
    container["envFrom"] = [{"secretRef": {"name": "rlaif-nats"}}, {"secretRef": {"name": "made"}}]
    external = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "made", "namespace": "zelda-rlaif"},
        "spec": {
            "data": [
                {"secretKey": key, "remoteRef": {"key": "zelda/llm", "property": each}}
                for key, each in (("A", "api_key"), ("B", "planner_api_key"), ("C", "api_key"))
            ]
        },
    }
    sealed = deploy / "components/secrets-sealed/nats.yaml"
    sealed.parent.mkdir()
    sealed.write_text(
        "kind: SealedSecret\nmetadata: {name: rlaif-nats}\nspec: {encryptedData: {NATS_URL: x}}\n"
    )
    put([*stream, external])
    assert run(deploy, "--fill-in", "overlays/dev") == PASSED
    said = capsys.readouterr().out
    assert "quay.io/your-organisation/x" in said
    assert "Secret rlaif-nats: NATS_URL\n" in said
    assert "vault entry zelda/llm: api_key, planner_api_key\n" in said
