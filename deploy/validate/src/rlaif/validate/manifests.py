"""A stream of manifests, and the pod templates inside the kinds that we use."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

Manifest = dict[str, Any]


def read(stream: str) -> list[Manifest]:
    """The objects of a rendered stream, in its order."""
    return [each for each in yaml.safe_load_all(stream) if each]


def write(manifests: Iterable[Manifest]) -> str:
    """A stream of these objects."""
    return str(yaml.safe_dump_all(manifests))


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
    """

    owner: Manifest
    spec: Manifest
    labels: dict[str, str]
    lasting: bool

    def containers(self) -> Iterator[Manifest]:
        """All of its containers, those that run before the others first."""
        yield from self.spec.get("initContainers") or ()
        yield from self.spec.get("containers") or ()

    def lasting_containers(self) -> Iterator[Manifest]:
        """Those that run as long as the pod does."""
        if self.lasting:
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


def _pod(owner: Manifest, template: Manifest, *, lasting: bool, **added: str) -> Pod:
    labels = (template.get("metadata") or {}).get("labels") or {}
    return Pod(owner, template.get("spec") or {}, labels | added, lasting)


def _ray_pods(owner: Manifest, cluster: Manifest) -> Iterator[Pod]:
    groups = [("head", cluster.get("headGroupSpec"))]
    groups += [("worker", group) for group in cluster.get("workerGroupSpecs") or ()]
    for role, group in groups:
        if group:
            node = {"ray.io/node-type": role}
            yield _pod(owner, group.get("template") or {}, lasting=True, **node)
