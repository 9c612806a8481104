"""A stream of manifests, and the pod templates inside the kinds that we use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

Manifest = dict[str, Any]

_NODE_TYPE = "ray.io/node-type"

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3}


def read(stream: str) -> list[Manifest]:
    """The objects of a rendered stream, in its order."""
    return [each for each in yaml.safe_load_all(stream) if each]


def texts(value: object) -> Iterator[str]:
    """Every string among the values of an object, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def named(manifest: Manifest) -> str:
    """Kind and name, as people say it: `Deployment/judge`."""
    return f"{manifest.get('kind')}/{manifest.get('metadata', {}).get('name')}"


@dataclass(frozen=True)
class Pod:
    """A pod template.

    Attributes:
        owner: The object that it is in.
        spec: The pod's spec.
        labels: Labels of its pods, with those that KubeRay adds.
        lasting: Whether it runs until it is ended; a job's does not.
        ray_params: Options of `ray start` in it, where it is one of Ray's.
        replicas: How many there are of it in a Ray cluster's group of workers.
    """

    owner: Manifest
    spec: Manifest
    labels: dict[str, str]
    lasting: bool
    ray_params: dict[str, str] = field(default_factory=dict)
    replicas: int = 0

    def containers(self) -> Iterator[Manifest]:
        """All of its containers, those that run before the others first."""
        yield from self.spec.get("initContainers") or ()
        yield from self.spec.get("containers") or ()


def pods(manifests: list[Manifest]) -> Iterator[Pod]:
    """Every pod template of the stream.

    An LLMInferenceService is left out: its template is laid over one of the operator's, which holds
    what ours leaves out.
    """
    for each in manifests:
        kind, spec = each.get("kind"), each.get("spec") or {}
        if kind in ("Deployment", "StatefulSet", "DaemonSet", "Notebook"):
            yield _pod(each, spec["template"], lasting=True)
        elif kind == "Job":
            yield _pod(each, spec["template"], lasting=False)
        elif kind == "CronJob":
            yield _pod(each, spec["jobTemplate"]["spec"]["template"], lasting=False)
        elif kind == "RayCluster":
            yield from _ray_pods(each, spec)
        elif kind == "RayJob":
            if "submitterPodTemplate" in spec:
                yield _pod(each, spec["submitterPodTemplate"], lasting=False)
            yield from _ray_pods(each, spec.get("rayClusterSpec") or {})


def is_head(pod: Pod) -> bool:
    """Whether it is the head of a Ray cluster."""
    return pod.labels.get(_NODE_TYPE) == "head"


def selects(selector: Manifest, labels: Mapping[str, str]) -> bool:
    """Whether a label selector of Kubernetes takes pods with these labels."""
    matched = (selector.get("matchLabels") or {}).items() <= labels.items()
    return matched and all(_holds(each, labels) for each in selector.get("matchExpressions") or ())


def _holds(expression: Manifest, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    held = {"In": value in values, "NotIn": value not in values, "Exists": value is not None}
    return held.get(expression["operator"], value is None)


def quantity(text: str | int | None) -> float:
    """A quantity of Kubernetes as a number; 0 when there is none."""
    number = str(text or 0)
    for unit, factor in _UNITS.items():
        if number.endswith(unit):
            return float(number.removesuffix(unit)) * factor
    return float(number)


def _pod(owner: Manifest, template: Manifest, *, lasting: bool, **added: str) -> Pod:
    labels = (template.get("metadata") or {}).get("labels") or {}
    return Pod(owner, template.get("spec") or {}, labels | added, lasting)


def _ray_pods(owner: Manifest, cluster: Manifest) -> Iterator[Pod]:
    groups = [("head", cluster.get("headGroupSpec"))]
    groups += [("worker", group) for group in cluster.get("workerGroupSpecs") or ()]
    for role, group in groups:
        if group:
            pod = _pod(owner, group.get("template") or {}, lasting=True, **{_NODE_TYPE: role})
            params, replicas = group.get("rayStartParams") or {}, group.get("replicas", 0)
            yield replace(pod, ray_params=params, replicas=replicas)
