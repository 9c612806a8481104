"""What every container says: how it is seen to be well, what it needs, and what it may not do."""

from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, Pod, named, pods

_IDS = ("runAsUser", "runAsGroup", "fsGroup", "supplementalGroups")
_HOST = ("hostNetwork", "hostPID", "hostIPC")


def missing_probes(manifests: list[Manifest]) -> Iterator[str]:
    """Traffic goes to a pod that is not ready, or one that hangs stays as it is."""
    for pod in pods(manifests):
        for container in pod.lasting_containers():
            for probe in ("livenessProbe", "readinessProbe"):
                if not container.get(probe):
                    yield f"{_at(pod, container)}: no {probe}"


def missing_resources(manifests: list[Manifest]) -> Iterator[str]:
    """Without requests a pod is evicted first; without a limit of memory it takes others along.

    A limit of CPU is not asked for: it slows a pod down on a node that is idle.
    """
    for pod in pods(manifests):
        for container in pod.containers():
            resources = container.get("resources") or {}
            for group, resource in (
                ("requests", "cpu"),
                ("requests", "memory"),
                ("limits", "memory"),
            ):
                if resource not in (resources.get(group) or {}):
                    yield f"{_at(pod, container)}: no {resource} in {group}"


def fixed_users(manifests: list[Manifest]) -> Iterator[str]:
    """OpenShift gives each namespace ids of its own and refuses a pod that asks for another."""
    for pod in pods(manifests):
        for field in _IDS:
            if (pod.spec.get("securityContext") or {}).get(field) is not None:
                yield f"{named(pod.owner)}: {field} is set"
        for container in pod.containers():
            for field in _IDS:
                if (container.get("securityContext") or {}).get(field) is not None:
                    yield f"{_at(pod, container)}: {field} is set"


def open_containers(manifests: list[Manifest]) -> Iterator[str]:
    """The requirements of restricted-v2, and a read-only root file system."""
    for pod in pods(manifests):
        context = pod.spec.get("securityContext") or {}
        if (context.get("seccompProfile") or {}).get("type") != "RuntimeDefault":
            yield f"{named(pod.owner)}: seccompProfile is not RuntimeDefault"
        for field in _HOST:
            if pod.spec.get(field):
                yield f"{named(pod.owner)}: {field}"
        for volume in pod.spec.get("volumes") or ():
            if "hostPath" in volume:
                yield f"{named(pod.owner)}: volume {volume.get('name')} is the node's"
        for container in pod.containers():
            yield from (f"{_at(pod, container)}: {what}" for what in _open(context, container))


def _open(of_the_pod: Manifest, container: Manifest) -> Iterator[str]:
    own = container.get("securityContext") or {}
    if not own.get("runAsNonRoot", of_the_pod.get("runAsNonRoot")):
        yield "runAsNonRoot is not true"
    if own.get("readOnlyRootFilesystem") is not True:
        yield "readOnlyRootFilesystem is not true"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation is not false"
    if own.get("privileged"):
        yield "privileged"
    capabilities = own.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        yield "capabilities are not dropped"
    if capabilities.get("add"):
        yield "capabilities are added"


def _at(pod: Pod, container: Manifest) -> str:
    return f"{named(pod.owner)}, container {container.get('name')}"
