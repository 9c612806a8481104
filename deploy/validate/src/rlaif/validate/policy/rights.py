"""What pods may ask of the API server: nothing, or what a Role names one by one."""

from collections.abc import Iterator

from rlaif.validate.manifests import Manifest, is_head, named, pods

_BROAD = {"cluster-admin", "admin", "edit"}


def wide_rights(manifests: list[Manifest]) -> Iterator[str]:
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


def unneeded_tokens(manifests: list[Manifest]) -> Iterator[str]:
    """Pods with a token that no binding gives a right. A Ray head needs one anyway."""
    bound = {
        subject.get("name")
        for each in manifests
        if each.get("kind") in ("RoleBinding", "ClusterRoleBinding")
        for subject in each.get("subjects") or ()
        if subject.get("kind") == "ServiceAccount"
    }
    for pod in pods(manifests):
        if pod.spec.get("serviceAccountName") in bound or is_head(pod):
            continue
        if pod.spec.get("automountServiceAccountToken") is not False:
            yield f"{named(pod.owner)}: its pods get a token that gives them no right"
