"""What OpenShift AI and Ray itself need of the pods of a Ray cluster, which no schema sees."""

from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, Pod, is_head, named, pods, quantity, selects

_API_SERVER = {443, 6443}
_WITH_RAY = ("ray", "trainer")
_STORE_SHARE = 0.3
"""Default share of the container's memory for Ray's object store."""


def heads_without_api_server(manifests: list[Manifest]) -> Iterator[str]:
    """Heads whose authenticating proxy, which OpenShift AI adds, can never start or answer."""
    for pod in filter(is_head, pods(manifests)):
        if pod.spec.get("automountServiceAccountToken") is not True:
            yield (
                f"{named(pod.owner)}: its head mounts no service account token; "
                "set automountServiceAccountToken: true"
            )
        open_ports = _egress_ports(pod, manifests)
        if open_ports is not None and not open_ports >= _API_SERVER:
            yield f"{named(pod.owner)}: no egress of its head to the API server (443, 6443)"


def _egress_ports(pod: Pod, manifests: list[Manifest]) -> set[int] | None:
    """TCP ports that the pod may call at any address; None when no policy restricts it."""
    policies = [
        each["spec"]
        for each in manifests
        if each.get("kind") == "NetworkPolicy"
        and "Egress" in (each["spec"].get("policyTypes") or ())
        and selects(each["spec"].get("podSelector") or {}, pod.labels)
    ]
    if not policies:
        return None
    found: set[int] = set()
    for rule in (rule for spec in policies for rule in spec.get("egress") or ()):
        if not rule.get("to"):
            ports = rule.get("ports")
            found |= {each["port"] for each in ports} if ports else _API_SERVER
    return found


def object_stores_beside_shm(manifests: list[Manifest]) -> Iterator[str]:
    """Containers whose Ray does not fit into the /dev/shm they mount, and uses the disk instead."""
    for pod in pods(manifests):
        if pod.labels.get("app.kubernetes.io/name") not in _WITH_RAY:
            continue
        sizes = {
            volume["name"]: quantity((volume.get("emptyDir") or {}).get("sizeLimit"))
            for volume in pod.spec.get("volumes") or ()
        }
        for container in pod.containers():
            memory = quantity(
                ((container.get("resources") or {}).get("limits") or {}).get("memory")
            )
            store = quantity(pod.ray_params.get("object-store-memory")) or memory * _STORE_SHARE
            for mount in container.get("volumeMounts") or ():
                if mount["mountPath"] == "/dev/shm" and 0 < sizes[mount["name"]] < store:
                    yield (
                        f"{named(pod.owner)}, container {container.get('name')}: /dev/shm is "
                        f"smaller than Ray's object store of {store / 2**20:.0f} Mi"
                    )


def idle_runners(manifests: list[Manifest]) -> Iterator[str]:
    """Clusters whose RAY_WORKERS is another number than the CPUs of their worker pods."""
    for owner in manifests:
        own = list(pods([owner]))
        workers = [each for each in own if each.replicas]
        for head in filter(is_head, own):
            (container, *_) = head.spec["containers"]
            wanted = [e["value"] for e in container.get("env") or () if e["name"] == "RAY_WORKERS"]
            cpus = sum(
                each.replicas * quantity(each.spec["containers"][0]["resources"]["requests"]["cpu"])
                for each in workers
            )
            if wanted and int(wanted[0]) != cpus:
                yield f"{named(owner)}: RAY_WORKERS is {wanted[0]}, its workers have {cpus:g} CPUs"
