"""Components of deploy/ say what the code says, and what each other say."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentExported
from rlaif.judge.routes import direct_url
from rlaif.judge.rubric.judges import JUDGES
from rlaif.servers.nats_server import find_nats_server

DEPLOY = Path(__file__).parents[3] / "deploy"
COMPONENTS = DEPLOY / "components"
NAMES = sorted(file.parent.name for file in COMPONENTS.glob("*/kustomization.yaml"))
WITH_NAMESPACE = sorted(folder.parent.name for folder in COMPONENTS.glob("*/by-namespace"))

Manifest = dict[str, Any]
Render = Callable[..., list[Manifest]]


@pytest.fixture(scope="module")
def render(tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Renders components on the base, with their folders `by-namespace`, as an overlay does."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed: make setup-dev installs it into .venv")

    @cache
    def stream(components: tuple[str, ...], namespace: str) -> str:
        overlay = tmp_path_factory.mktemp("overlay").resolve()
        folders = [COMPONENTS / name for name in components]
        content = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": namespace,
            "resources": [os.path.relpath(DEPLOY / "base", overlay)],
            "components": [os.path.relpath(folder, overlay) for folder in folders],
            "transformers": [
                os.path.relpath(folder / "by-namespace", overlay)
                for folder in folders
                if folder.name in WITH_NAMESPACE
            ],
        }
        (overlay / "kustomization.yaml").write_text(yaml.safe_dump(content))
        done = subprocess.run(
            [kubectl, "kustomize", str(overlay)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rendered(*components: str, namespace: str = "zelda-rlaif") -> list[Manifest]:
        return [each for each in yaml.safe_load_all(stream(components, namespace)) if each]

    return rendered


def of_kind(manifests: list[Manifest], kind: str) -> list[Manifest]:
    return [each for each in manifests if each["kind"] == kind]


def settings(manifests: list[Manifest]) -> dict[str, str]:
    """The ConfigMap that all services read."""
    (found,) = (
        each["data"]
        for each in of_kind(manifests, "ConfigMap")
        if each["metadata"]["name"].startswith("rlaif-config")
    )
    return found


def wave(manifest: Manifest) -> str:
    annotations = manifest["metadata"].get("annotations") or {}
    return str(annotations.get("argocd.argoproj.io/sync-wave", "0"))


def one(component: str, file: str) -> Manifest:
    return yaml.safe_load((COMPONENTS / component / file).read_text())


@pytest.mark.parametrize("name", WITH_NAMESPACE)
def test_an_overlay_names_no_other_environment_s_namespace(render: Render, name: str):
    text = yaml.safe_dump_all(render(name, namespace="elsewhere"))
    for no_namespace in ("app.kubernetes.io/part-of: zelda-rlaif\n", "image: zelda-rlaif/"):
        text = text.replace(no_namespace, "")
    assert [line for line in text.splitlines() if "zelda-rlaif" in line] == []


@pytest.mark.parametrize("namespace", ["zelda-rlaif", "zelda-rlaif-dev"])
def test_a_judge_s_route_leads_to_the_pool_of_its_own_model(render: Render, namespace: str):
    manifests = render("gateway-routes", "trust", namespace=namespace)
    (routes,) = of_kind(manifests, "HTTPRoute")
    base = settings(manifests)["LLM_BASE_URL"]
    led = {
        rule["matches"][0]["path"]["value"]: rule["backendRefs"][0]["name"]
        for rule in routes["spec"]["rules"]
    }
    # What the judge calls is LLM_BASE_URL and its route; the path begins behind the host.
    path = "/" + base.split("/", 3)[3]
    assert led == {f"{path}{judge.route}": f"{judge.model}-inference-pool" for judge in JUDGES}
    assert path == f"/{namespace}"
    assert settings(manifests)["LLM_NAMESPACE"] == namespace
    assert not any(settings(manifests).get(f"LLM_{j.name.upper()}_URL") for j in JUDGES)


def test_the_models_are_called_as_the_judges_and_the_direct_address_call_them(render: Render):
    models = of_kind(render("llm-kserve", "trust"), "LLMInferenceService")
    assert {each["metadata"]["name"] for each in models} == {judge.model for judge in JUDGES}
    for each in models:
        name = each["metadata"]["name"]
        assert each["spec"]["model"]["name"] == name
        assert direct_url(name, "n").startswith(f"https://{name}-kserve-workload-svc.n.")


def test_every_model_s_scheduler_asks_first_what_a_replica_has_read(render: Render):
    for each in of_kind(render("llm-kserve", "trust"), "LLMInferenceService"):
        config = each["spec"]["router"]["scheduler"]["config"]["inline"]
        declared = {plugin["type"] for plugin in config["plugins"]}
        (profile,) = config["schedulingProfiles"]
        weights = {plugin["pluginRef"]: plugin.get("weight", 0) for plugin in profile["plugins"]}
        assert set(weights) <= declared
        assert max(weights, key=lambda name: weights[name]) == "prefix-cache-scorer"


@pytest.mark.parametrize("component", ["autoscale-cma", "grafana"])
def test_thanos_admits_the_account_that_queries_it(component: str):
    """Its proxy checks `get pods` in one of two groups, depending on OpenShift's release."""
    (rule,) = one(component, "role.yaml")["rules"]
    assert rule == {"apiGroups": ["", "metrics.k8s.io"], "resources": ["pods"], "verbs": ["get"]}


@pytest.mark.parametrize("component", ["autoscale-cma", "autoscale-keda"])
def test_an_autoscaler_watches_the_queue_that_the_judges_work_on(component: str):
    spec = spec_of(SegmentExported)
    (trigger,) = one(component, "judge.yaml")["spec"]["triggers"]
    asked = trigger["metadata"]
    if trigger["type"] == "nats-jetstream":
        assert (asked["stream"], asked["consumer"]) == (spec.stream, *spec.consumers)
        assert f"\n  {asked['account']} {{" in (DEPLOY / "base/nats/nats.conf").read_text()
    else:
        streams = re.findall(r'stream_name="(\w+)"', asked["query"])
        consumers = re.findall(r'consumer_name="([\w-]+)"', asked["query"])
        assert (set(streams), set(consumers)) == ({spec.stream}, set(spec.consumers))


def test_both_ways_to_bring_secrets_bring_the_same(render: Render):
    sealed = {
        each["metadata"]["name"]: set(each["spec"]["encryptedData"])
        for each in of_kind(render("secrets-sealed"), "SealedSecret")
    }
    external = {
        each["metadata"]["name"]: set(
            each["spec"]["target"].get("template", {}).get("data")
            or (entry["secretKey"] for entry in each["spec"]["data"])
        )
        for each in of_kind(render("secrets-external"), "ExternalSecret")
    }
    assert sealed == external


@pytest.mark.parametrize("component", ["secrets-external", "secrets-sealed"])
def test_the_bucket_claim_is_the_only_owner_of_the_store_s_keys(render: Render, component: str):
    found = render(component, "s3-odf", "trust")
    assert [
        each["kind"]
        for each in found
        if each["metadata"]["name"] == "rlaif-s3" and each["kind"] != "ConfigMap"
    ] == ["ObjectBucketClaim"]


def test_a_secret_that_a_pod_asks_for_is_brought_by_the_components_for_secrets(render: Render):
    asked = re.findall(
        r"secretRef:\n\s+name: (\S+)(\n\s+optional: true)?", yaml.safe_dump_all(render("llm-mock"))
    )
    # A store has one key for all services, or one for each.
    needed = {name for name, optional in asked if not optional} | {"rlaif-s3"}
    assert needed == {
        each["metadata"]["name"] for each in of_kind(render("secrets-sealed"), "SealedSecret")
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_authority_that_a_component_names_is_one_that_trust_mounts(render: Render, name: str):
    reported = settings(render(name))
    files = {value for key, value in reported.items() if key.endswith("_CA_FILE") and value}
    mount, volume = (
        patch["value"] for patch in yaml.safe_load((COMPONENTS / "trust/service.yaml").read_text())
    )
    mounted = {
        f"{mount['mountPath']}/{item['path']}"
        for source in volume["projected"]["sources"]
        for kind in source.values()
        for item in kind["items"]
    }
    assert files <= mounted
    needs = one(name, "kustomization.yaml").get("metadata", {}).get("annotations", {})
    assert ("trust" in needs.get("zelda-rlaif/needs", "")) == bool(files)


def test_trust_reaches_every_own_pod(render: Render):
    manifests = render("ray-cluster", "trust")
    templates = re.findall(
        r"envFrom:\n(?:.*\n)*?\s+name: rlaif-config", yaml.safe_dump_all(manifests)
    )
    mounted = yaml.safe_dump_all(manifests).count("mountPath: /etc/trust")
    assert mounted == len(templates) > 0


@pytest.mark.parametrize("components", [("ha",), ("ha", "tls-nats"), ("tls-nats", "ha")])
def test_nats_accepts_what_the_components_make_of_its_settings(
    render: Render, tmp_path: Path, components: tuple[str, ...]
):
    (found,) = (
        each["data"]
        for each in of_kind(render(*components), "ConfigMap")
        if each["metadata"]["name"].startswith("nats-config")
    )
    for name, text in found.items():
        (tmp_path / name).write_text(text)
    passwords = re.findall(r"\$(NATS_\w+_PASSWORD)", "".join(found.values()))
    done = subprocess.run(
        [find_nats_server(), "-t", "--config", tmp_path / "nats.conf"],
        env={"NATS_SERVER_NAME": "nats-0", **{name: f"x{name}" for name in passwords}},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "tls-nats" in components:
        # All that is wrong is that the certificate is on the cluster, not here.
        assert "open /etc/nats-tls/tls.crt: no such file" in done.stderr
        assert "verify" in found["cluster-tls.conf"]
    else:
        assert done.returncode == 0, done.stderr


def test_argo_cd_may_write_every_kind_that_a_component_has(render: Render):
    project = yaml.safe_load((DEPLOY / "argocd/project.yaml").read_text())
    allowed = {(e["group"], e["kind"]) for e in project["spec"]["namespaceResourceWhitelist"]}
    used = {
        (each["apiVersion"].rpartition("/")[0], each["kind"])
        for name in NAMES
        for each in render(name)
    }
    assert used - allowed == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_volume_is_made_in_the_wave_of_the_pod_that_mounts_it(render: Render, name: str):
    manifests = render(name)
    claimed = {
        volume["persistentVolumeClaim"]["claimName"]: wave(each)
        for each in of_kind(manifests, "Deployment")
        for volume in each["spec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    }
    # Bound with the first pod that asks: in an earlier wave Argo CD would wait for ever.
    claims = of_kind(manifests, "PersistentVolumeClaim")
    assert {each["metadata"]["name"]: wave(each) for each in claims} == claimed
