"""Kinds of Kubernetes itself, against the schemas of its releases."""

import json
from collections.abc import Iterator
from functools import cache

import kubernetes_validate

from rlaif.validate.manifests import Manifest, named

RELEASES = ("1.33", "1.35", "1.37")
"""Under OpenShift 4.20, under 4.22, and the newest."""

_GROUPS = {
    "apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io",
    "scheduling.k8s.io", "storage.k8s.io",
}  # fmt: skip


def is_core(manifest: Manifest) -> bool:
    """Whether Kubernetes itself brings the kind; others need the schemas of their operators."""
    group, slash, _ = str(manifest.get("apiVersion")).partition("/")
    return not slash or group in _GROUPS


def schema_errors(manifests: list[Manifest]) -> Iterator[str]:
    """What a release's API server would refuse, unknown fields included."""
    for each in filter(is_core, manifests):
        yield from _errors(json.dumps(each, sort_keys=True, default=str))


@cache
def _errors(text: str) -> tuple[str, ...]:
    """Errors of one object; the same one is in many streams."""
    manifest: Manifest = json.loads(text)
    for release in RELEASES:
        try:
            kubernetes_validate.validate(manifest, release, strict=True)
        except kubernetes_validate.ValidationError as error:
            where = ".".join(str(step) for step in error.path)
            return (f"{named(manifest)} {where} (Kubernetes {release}): {error.message}",)
        except kubernetes_validate.SchemaNotFoundError:
            return (f"{named(manifest)}: Kubernetes {release} has no {manifest['apiVersion']}",)
    return ()
