"""Ray pods that can train here, out of those that the CodeFlare SDK builds.

The SDK knows environment variables as plain values only: a credential given so can be read in the
object, in etcd and on Ray's dashboard. It writes its own Ray's version, no security context and no
label that a NetworkPolicy selects. `fit` adds what is missing; the two classes below call it.

Needs `requirements.txt`. Importing it asks no cluster.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from codeflare_sdk import Cluster, ManagedClusterConfig
from codeflare_sdk.common.kubernetes_cluster.auth import get_api_client
from kubernetes import client

RAY_VERSION = "2.60.0"
"""Of the trainer's image, and so of every pod; the SDK's own is an older one, and stays here."""

SECRETS = ("rlaif-nats", "rlaif-s3")
"""What a training pod is let in by."""

LABELS = {"app.kubernetes.io/name": "ray", "app.kubernetes.io/part-of": "zelda-rlaif"}
"""What the NetworkPolicies select: a pod without them reaches neither NATS nor S3."""

_ENVIRONMENT = {
    "HOME": "/tmp",  # the user of a pod has no home, and nothing else can be written
    "TRAINER_DATA_DIR": "/tmp/trainer",  # checkpoints that outlive the pod are in the models store
    "RAY_JOB_STOP_WAIT_TIME_S": "60",  # a job that is stopped has time to save
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class TrainingCluster(Cluster):
    """A Ray cluster that stays until `down()`, fit to train."""

    def create_resource(self) -> Any:
        """The RayCluster, or with `write_to_file` the name of its file; `apply()` calls it too."""
        made = super().create_resource()
        settings = config_map(self.config.namespace)
        if not self.config.write_to_file:
            return made | {"spec": fit(made["spec"], settings)}
        resource = yaml.safe_load(Path(made).read_text())
        resource["spec"] = fit(resource["spec"], settings)
        Path(made).write_text(yaml.safe_dump(resource))
        return made


@dataclass
class TrainingPods(ManagedClusterConfig):
    """The cluster of one job: there when Kueue admits it, gone when the job ends.

    Attributes:
        settings: The ConfigMap with the ring's settings, from `config_map`.
    """

    settings: str = ""

    def build_ray_cluster_spec(self, cluster_name: str) -> dict[str, Any]:
        """What the RayJob brings along."""
        spec = super().build_ray_cluster_spec(cluster_name)
        return fit(client.ApiClient().sanitize_for_serialization(spec), self.settings)


def config_map(namespace: str) -> str:
    """The newest `rlaif-config-…`: Kustomize ends its name with a digest of its content."""
    found = client.CoreV1Api(get_api_client()).list_namespaced_config_map(namespace).items
    ours = [each.metadata for each in found if each.metadata.name.startswith("rlaif-config-")]
    if not ours:
        raise LookupError(f"no ConfigMap rlaif-config-… in {namespace}: is the overlay applied?")
    return str(max(ours, key=lambda each: each.creation_timestamp).name)


def fit(spec: dict[str, Any], settings: str) -> dict[str, Any]:
    """The spec of a RayCluster whose pods can train: a copy of what the SDK built, completed."""
    head = spec["headGroupSpec"]
    workers = [group | _template(group, settings) for group in spec["workerGroupSpecs"]]
    return spec | {
        "rayVersion": RAY_VERSION,
        "headGroupSpec": head | _template(head, settings),
        "workerGroupSpecs": workers,
    }


def _template(group: dict[str, Any], settings: str) -> dict[str, Any]:
    template = group["template"]
    metadata = template.get("metadata") or {}
    pod = template["spec"]
    return {
        "template": {
            "metadata": metadata | {"labels": metadata.get("labels", {}) | LABELS},
            "spec": pod
            | {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [_container(each, settings) for each in pod["containers"]],
                "volumes": [
                    *pod.get("volumes", []),
                    {"name": "tmp", "emptyDir": {}},
                    # Ray's objects: the 64 MiB that a container has by itself are too few.
                    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
                ],
            },
        }
    }


def _container(container: dict[str, Any], settings: str) -> dict[str, Any]:
    given = {each["name"] for each in container.get("env", [])}
    added = [{"name": k, "value": v} for k, v in _ENVIRONMENT.items() if k not in given]
    return container | {
        "imagePullPolicy": "IfNotPresent",  # images are pinned by digest: nothing newer to pull
        "env": [*container.get("env", []), *added],
        "envFrom": [
            {"configMapRef": {"name": settings}},
            *({"secretRef": {"name": name}} for name in SECRETS),
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            *container.get("volumeMounts", []),
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
    }
