"""A namespace in which everything may talk to everything has no documented edges."""

from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, pods


def open_namespaces(manifests: list[Manifest]) -> Iterator[str]:
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
