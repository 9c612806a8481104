"""All checks of all render targets: our own rules, and the schemas of Kubernetes' releases."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import kubernetes_validate

from rlaif.validate.manifests import Manifest, named, read
from rlaif.validate.policy import findings
from rlaif.validate.rendering import RenderError
from rlaif.validate.targets import Target, targets

RELEASES = ("1.33", "1.35", "1.37")
"""Under OpenShift 4.20, under 4.22, and the newest."""

JOB = "training-job"
"""Label app.kubernetes.io/component of the objects that deploy/jobs adds to an overlay."""

_GROUPS = {
    "apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io",
    "scheduling.k8s.io", "storage.k8s.io",
}  # fmt: skip
"""API groups of Kubernetes itself; others need the schemas of their operators."""


@dataclass
class Report:
    """The objects of a target, none if it does not render, and its errors."""

    target: Target
    manifests: list[Manifest] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def check(deploy: Path, only: Sequence[str] = ()) -> Iterator[Report]:
    """Check every target; with `only`, those whose names start with one of these."""
    for target in targets(deploy):
        if target.name.startswith(tuple(only or ("",))):
            yield _check(target, deploy)


def jobs_of(manifests: list[Manifest]) -> list[Manifest]:
    """The objects that deploy/jobs adds, without those of their overlay."""
    return [
        each
        for each in manifests
        if (each["metadata"].get("labels") or {}).get("app.kubernetes.io/component") == JOB
    ]


def _check(target: Target, deploy: Path) -> Report:
    try:
        rendered = read(target.render(deploy))
    except RenderError as error:
        return Report(target, errors=[f"it does not render: {error}"])
    # A rule may need all objects together. An overlay is a target itself.
    errors = findings(rendered)
    manifests = jobs_of(rendered) if target.folder == "jobs" else rendered
    for each in manifests:
        group, slash, _ = str(each.get("apiVersion")).partition("/")
        if not slash or group in _GROUPS:
            errors += _refusals(json.dumps(each, sort_keys=True, default=str))
    return Report(target, manifests, errors)


@cache
def _refusals(text: str) -> tuple[str, ...]:
    """Why a release's API server would refuse an object; the same one is in many streams."""
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
