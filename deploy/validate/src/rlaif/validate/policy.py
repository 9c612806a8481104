"""Our own rules for manifests: what must never reach a cluster, whatever its schema says."""

import re
from collections.abc import Callable, Iterator

from rlaif.validate.manifests import Manifest, Pod, is_head, named, pods, quantity, selects, texts

_IDS = ("runAsUser", "runAsGroup", "fsGroup", "supplementalGroups")
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_NEEDED = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))
_BROAD = {"cluster-admin", "admin", "edit"}
_SCALED = ("Deployment", "StatefulSet")
_API_SERVER = {443, 6443}
_WITH_RAY = ("ray", "trainer")
_STORE_SHARE = 0.3
"""Default share of the container's memory for Ray's object store."""

_RELEASE = re.compile(r"^v?\d+\.\d+|^RELEASE\.\d{4}-\d{2}-\d{2}")
"""A tag that a publisher gives once; `1`, `stable` or `main` move on."""

_SECRET_NAME = re.compile(
    r"(PASSWORD|PASSWD|SECRET|TOKEN|ACCESS_KEY|API_KEY|PRIVATE_KEY|CREDENTIAL)", re.IGNORECASE
)
_NOT_THE_SECRET = re.compile(r"(_FILE|_PATH|_NAME|_URL|_URI|_ENABLED|_SECONDS)$", re.IGNORECASE)
_A_SECRET = (
    ("a password in an address", re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@$]*:[^/\s@$][^/\s@]*@")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    (
        "a password in a text",
        re.compile(
            r"(?im)^\s*['\"]?\w*(password|secret_key|access_key|api_key|token)['\"]?\s*[:=]\s*"
            r"['\"]?(?![$<{'\"\s]|file:|\d+$|true\b|false\b|null\b)\S"
        ),
    ),
)


def findings(manifests: list[Manifest]) -> list[str]:
    """What breaks a rule: one line each, with the object's name."""
    found = [line for rule in _OF_THE_STREAM for line in rule(manifests)]
    for pod in pods(manifests):
        owner = named(pod.owner)
        found += [f"{owner}: {line}" for rule in _OF_A_POD for line in rule(pod, manifests)]
        for container in pod.containers():
            for rule in _OF_A_CONTAINER:
                place = f"{owner}, container {container.get('name')}"
                found += [f"{place}: {line}" for line in rule(pod, container)]
    return found


# Rules of one container.


def _missing_probes(pod: Pod, container: Manifest) -> Iterator[str]:
    """Traffic goes to a pod that is not ready, or one that hangs stays as it is."""
    if pod.lasting and container in pod.spec["containers"]:
        for probe in ("livenessProbe", "readinessProbe"):
            if not container.get(probe):
                yield f"no {probe}"


def _missing_resources(_pod: Pod, container: Manifest) -> Iterator[str]:
    """Without requests a pod is evicted first; without a limit of memory it takes others along.

    A limit of CPU is not asked for: it slows a pod down on a node that is idle.
    """
    resources = container.get("resources") or {}
    for group, resource in _NEEDED:
        if resource not in (resources.get(group) or {}):
            yield f"no {resource} in {group}"


def _open_containers(pod: Pod, container: Manifest) -> Iterator[str]:
    """The requirements of restricted-v2, and a read-only root file system."""
    of_the_pod = pod.spec.get("securityContext") or {}
    own = container.get("securityContext") or {}
    for field in _IDS:
        if own.get(field) is not None:
            yield f"{field} is set"
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


def _small_shm(pod: Pod, container: Manifest) -> Iterator[str]:
    """Ray's object store does not fit into the /dev/shm that is mounted, and uses the disk."""
    if pod.labels.get("app.kubernetes.io/name") not in _WITH_RAY:
        return
    sizes = {
        volume["name"]: quantity((volume.get("emptyDir") or {}).get("sizeLimit"))
        for volume in pod.spec.get("volumes") or ()
    }
    memory = quantity(((container.get("resources") or {}).get("limits") or {}).get("memory"))
    store = quantity(pod.ray_params.get("object-store-memory")) or memory * _STORE_SHARE
    for mount in container.get("volumeMounts") or ():
        if mount["mountPath"] == "/dev/shm" and 0 < sizes[mount["name"]] < store:
            yield f"/dev/shm is smaller than Ray's object store of {store / 2**20:.0f} Mi"


# Rules of one pod.


def _written_secrets(pod: Pod, _manifests: list[Manifest]) -> Iterator[str]:
    for container in pod.containers():
        for variable in container.get("env") or ():
            if variable.get("value") and _is_secret(variable["name"]):
                yield f"{variable['name']} is a secret written down"


def _unpinned_images(pod: Pod, _manifests: list[Manifest]) -> Iterator[str]:
    """The same manifest runs the same program tomorrow: a digest, or the tag of a release."""
    for container in pod.containers():
        image = str(container.get("image") or "")
        tag = image.rpartition("/")[2].partition(":")[2]
        if image and "@sha256:" not in image and not _RELEASE.match(tag):
            yield f"image {image} is not pinned"


def _open_pods(pod: Pod, _manifests: list[Manifest]) -> Iterator[str]:
    """The requirements of restricted-v2.

    OpenShift gives each namespace ids of its own and refuses a pod that asks for another.
    """
    context = pod.spec.get("securityContext") or {}
    for field in _IDS:
        if context.get(field) is not None:
            yield f"{field} is set"
    if (context.get("seccompProfile") or {}).get("type") != "RuntimeDefault":
        yield "seccompProfile is not RuntimeDefault"
    for field in _HOST:
        if pod.spec.get(field):
            yield field
    for volume in pod.spec.get("volumes") or ():
        if "hostPath" in volume:
            yield f"volume {volume.get('name')} is the node's"


def _tokens(pod: Pod, manifests: list[Manifest]) -> Iterator[str]:
    """A pod has a token only if a binding gives it a right.

    A Ray head needs one for the authenticating proxy that OpenShift AI adds, and egress to the API
    server: the proxy can neither start nor answer without.
    """
    mounts = pod.spec.get("automountServiceAccountToken")
    if is_head(pod):
        if mounts is not True:
            yield (
                "its head mounts no service account token; set automountServiceAccountToken: true"
            )
        open_ports = _egress_ports(pod, manifests)
        if open_ports is not None and not open_ports >= _API_SERVER:
            yield "no egress of its head to the API server (443, 6443)"
        return
    bound = {
        subject.get("name")
        for each in manifests
        if each.get("kind") in ("RoleBinding", "ClusterRoleBinding")
        for subject in each.get("subjects") or ()
        if subject.get("kind") == "ServiceAccount"
    }
    if mounts is not False and pod.spec.get("serviceAccountName") not in bound:
        yield "its pods get a token that gives them no right"


def _egress_ports(pod: Pod, manifests: list[Manifest]) -> set[int] | None:
    """TCP ports that the pod may call at addresses, not only pods; None without a restriction."""
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
        if not rule.get("to") or any("ipBlock" in peer for peer in rule["to"]):
            ports = rule.get("ports")
            found |= {each["port"] for each in ports} if ports else _API_SERVER
    return found


# Rules of a whole stream.


def _literal_secrets(manifests: list[Manifest]) -> Iterator[str]:
    """Manifests name Secrets and never hold one: git and the cluster's store keep them."""
    for each in manifests:
        if each.get("kind") == "Secret" and (each.get("data") or each.get("stringData")):
            yield f"{named(each)}: a Secret with values; an operator or you make it, not git"
        elif each.get("kind") == "ConfigMap":
            for key, value in (each.get("data") or {}).items():
                if value and _is_secret(key):
                    yield f"{named(each)}: {key} has the name of a secret and a value"
        if each.get("kind") not in ("SealedSecret", "CustomResourceDefinition"):
            for text in texts(each):
                for what, pattern in _A_SECRET:
                    if pattern.search(text):
                        yield f"{named(each)}: {what}"


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NOT_THE_SECRET.search(name)


def _wide_rights(manifests: list[Manifest]) -> Iterator[str]:
    """Roles with a wildcard, and bindings to a role that is made of them."""
    for each in manifests:
        kind = each.get("kind")
        if kind in ("Role", "ClusterRole"):
            for rule in each.get("rules") or ():
                for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
                    if any("*" in value for value in rule.get(field) or ()):
                        yield f"{named(each)}: a wildcard in {field}"
        role = (each.get("roleRef") or {}).get("name")
        if kind in ("RoleBinding", "ClusterRoleBinding") and role in _BROAD:
            yield f"{named(each)}: binds the role {role}"


def _open_namespaces(manifests: list[Manifest]) -> Iterator[str]:
    """Namespaces with pods and without a policy that denies all, both ways."""
    closed = {
        each["metadata"].get("namespace")
        for each in manifests
        if each.get("kind") == "NetworkPolicy" and _denies_all(each["spec"])
    }
    used = {pod.owner["metadata"].get("namespace") for pod in pods(manifests)}
    for namespace in sorted(used - closed, key=str):
        yield f"Namespace/{namespace}: no policy denies what no other one allows"


def _denies_all(spec: Manifest) -> bool:
    return (
        not spec.get("podSelector")
        and set(spec.get("policyTypes") or ()) == {"Ingress", "Egress"}
        and not spec.get("ingress")
        and not spec.get("egress")
    )


def _idle_runners(manifests: list[Manifest]) -> Iterator[str]:
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


def _blocked_drains(manifests: list[Manifest]) -> Iterator[str]:
    """Budgets that also select pods of a kind without a scale, such as a Job.

    A node that is drained for an upgrade must get rid of its pods.
    """
    for budget in manifests:
        if budget.get("kind") != "PodDisruptionBudget":
            continue
        if isinstance(budget["spec"].get("minAvailable"), int):
            continue  # counted without asking anybody for a scale
        for pod in pods(manifests):
            if pod.owner["kind"] not in _SCALED and selects(budget["spec"]["selector"], pod.labels):
                owner = named(pod.owner)
                yield f"{named(budget)}: selects pods of {owner}, and then allows no eviction"


_OF_A_CONTAINER: tuple[Callable[[Pod, Manifest], Iterator[str]], ...] = (
    _missing_probes,
    _missing_resources,
    _open_containers,
    _small_shm,
)
_OF_A_POD: tuple[Callable[[Pod, list[Manifest]], Iterator[str]], ...] = (
    _written_secrets,
    _unpinned_images,
    _open_pods,
    _tokens,
)
_OF_THE_STREAM: tuple[Callable[[list[Manifest]], Iterator[str]], ...] = (
    _literal_secrets,
    _wide_rights,
    _open_namespaces,
    _idle_runners,
    _blocked_drains,
)
