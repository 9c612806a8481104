"""Ray pods that can train here, out of those that the CodeFlare SDK builds.

The SDK knows environment variables as plain values only, which everybody reads who sees the object;
it writes its own Ray's version, no security context, probes that need wget, and no label that a
NetworkPolicy selects. So number, size and image of the pods are the SDK's, and the pods themselves
those of `deploy/jobs/train/rayjob.yaml`: there is one description of a training pod.

Needs `requirements.txt`. Importing it asks no cluster.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from codeflare_sdk import Cluster, ManagedClusterConfig, RayJob
from codeflare_sdk.common.kubernetes_cluster.auth import get_api_client
from kubernetes import client

OURS = Path(__file__).resolve().parents[1] / "jobs/train/rayjob.yaml"


class TrainingCluster(Cluster):
    """A Ray cluster that stays until `down()`, fit to train."""

    def create_resource(self) -> Any:
        """The RayCluster, or with `write_to_file` the name of its file; `apply()` calls it too."""
        made = super().create_resource()
        settings = config_map(self.config.namespace)
        if not self.config.write_to_file:
            return _labelled(made) | {"spec": fit(made["spec"], settings)}
        resource = _labelled(yaml.safe_load(Path(made).read_text(encoding="utf-8")))
        resource["spec"] = fit(resource["spec"], settings)
        Path(made).write_text(yaml.safe_dump(resource), encoding="utf-8")
        return made


@dataclass
class TrainingPods(ManagedClusterConfig):
    """The cluster of one job: there when Kueue admits it, gone when the job ends.

    Attributes:
        settings: The ConfigMap with the pipeline's settings, from `config_map`.
    """

    settings: str = ""

    def build_ray_cluster_spec(self, cluster_name: str) -> dict[str, Any]:
        """What the RayJob brings along."""
        spec = super().build_ray_cluster_spec(cluster_name)
        return fit(client.ApiClient().sanitize_for_serialization(spec), self.settings)


class TrainingJob(RayJob):
    """A job whose submitter, a pod of its own, is let through to Ray.

    Args:
        image: The trainer's; Ray of the submitter and of the cluster are one version.
        options: Those of the SDK's `RayJob`.
    """

    def __init__(self, *, image: str, **options: Any) -> None:
        super().__init__(**options)
        self._image = image

    def _build_rayjob_cr(self) -> dict[str, Any]:
        made = _labelled(super()._build_rayjob_cr())
        submitter = _our_spec()["submitterPodTemplate"]
        submitter["spec"]["containers"][0]["image"] = self._image
        return made | {"spec": {"submitterPodTemplate": submitter} | made["spec"]}


def config_map(namespace: str) -> str:
    """The newest `rlaif-config-…`: Kustomize ends its name with a digest of its content."""
    found = client.CoreV1Api(get_api_client()).list_namespaced_config_map(namespace).items
    ours = [each.metadata for each in found if each.metadata.name.startswith("rlaif-config-")]
    if not ours:
        raise LookupError(f"no ConfigMap rlaif-config-… in {namespace}: is the overlay applied?")
    return str(max(ours, key=lambda each: each.creation_timestamp).name)


def fit(spec: dict[str, Any], settings: str) -> dict[str, Any]:
    """Our cluster, with the numbers, sizes and image of the SDK's.

    Args:
        spec: Of a RayCluster, as the SDK builds it.
        settings: Name of the ConfigMap with the pipeline's settings.
    """
    ours = _our_spec()["rayClusterSpec"]
    head, (workers,) = ours["headGroupSpec"], ours["workerGroupSpecs"]
    built, (wanted,) = spec["headGroupSpec"], spec["workerGroupSpecs"]
    head["template"]["spec"] = _pod(head["template"]["spec"], built["template"]["spec"], settings)
    workers["template"]["spec"] = _pod(
        workers["template"]["spec"], wanted["template"]["spec"], settings
    )
    for name in ("replicas", "minReplicas", "maxReplicas"):
        workers[name] = wanted[name]
    return ours


def _our_spec() -> dict[str, Any]:
    return dict(yaml.safe_load(OURS.read_text(encoding="utf-8"))["spec"])


def _labelled(resource: dict[str, Any]) -> dict[str, Any]:
    ours = yaml.safe_load(OURS.read_text(encoding="utf-8"))["metadata"]["labels"]
    metadata = resource["metadata"]
    return resource | {"metadata": metadata | {"labels": ours | (metadata.get("labels") or {})}}


def _pod(ours: dict[str, Any], built: dict[str, Any], settings: str) -> dict[str, Any]:
    """The pod with the requested image, size and other options of the SDK."""
    pod = deepcopy(ours)
    (container,), (wanted,) = pod["containers"], built["containers"]
    for name in ("image", "resources"):
        container[name] = wanted[name]
    for source in container["envFrom"]:
        if "configMapRef" in source:
            source["configMapRef"]["name"] = settings
    given = {each["name"] for each in container.get("env", ())}
    added = [each for each in wanted.get("env") or () if each["name"] not in given]
    container["env"] = [*container.get("env", ()), *added]
    container["volumeMounts"] += wanted.get("volumeMounts") or []
    pod["volumes"] += built.get("volumes") or []
    return pod | {
        name: built[name] for name in ("tolerations", "imagePullSecrets") if name in built
    }
