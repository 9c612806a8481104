"""All checks of all render targets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlaif.validate.manifests import Manifest, read
from rlaif.validate.policy import findings
from rlaif.validate.rendering import RenderError
from rlaif.validate.schemas import schema_errors
from rlaif.validate.targets import Target, targets

JOB = "training-job"
"""Label app.kubernetes.io/component of the objects that deploy/jobs adds to an overlay."""


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


def _check(target: Target, deploy: Path) -> Report:
    try:
        rendered = read(target.render(deploy))
    except RenderError as error:
        return Report(target, errors=[f"it does not render: {error}"])
    # A rule may need all objects together. An overlay is a target itself.
    errors = findings(rendered)
    manifests = jobs_of(rendered) if target.folder == "jobs" else rendered
    return Report(target, manifests, [*errors, *schema_errors(manifests)])


def jobs_of(manifests: list[Manifest]) -> list[Manifest]:
    """The objects that deploy/jobs adds, without those of their overlay."""
    return [
        each
        for each in manifests
        if (each["metadata"].get("labels") or {}).get("app.kubernetes.io/component") == JOB
    ]
