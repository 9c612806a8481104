"""All checks of all targets: what was found, and how much was looked at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlaif.validate.crds import PLATFORMS, Validators, Verdict
from rlaif.validate.manifests import Manifest, read, write
from rlaif.validate.policy import findings
from rlaif.validate.rendering import RenderError
from rlaif.validate.schemas import schema_errors
from rlaif.validate.targets import Target, targets

JOB = "training-job"
"""Label app.kubernetes.io/component of what deploy/jobs adds to an overlay."""

_AROUND = ("cluster", "jobs")
"""Folders that others are looked at together with."""


@dataclass
class Report:
    """What was found in one target; empty lists when it is right.

    Attributes:
        target: What was looked at.
        manifests: Its objects; none when it does not render.
        errors: What fails it.
        unknown: By platform, kinds that its schemas do not hold.
        warnings: What a person may want to look at.
    """

    target: Target
    manifests: list[Manifest] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong, and every kind was known somewhere it was looked for."""
        return not self.errors and not any(self.unknown.values())


def check(deploy: Path, validators: Validators, only: Sequence[str] = ()) -> Iterator[Report]:
    """Check every target; with `only`, those whose names begin with one of these."""
    chosen = [each for each in targets(deploy) if each.name.startswith(tuple(only or ("",)))]
    around = [each for each in targets(deploy) if each.folder in _AROUND]
    needed = chosen + (around if validators.are_there else [])
    rendered = {each: _rendered(each, deploy) for each in needed}
    surroundings = _Surroundings(rendered)
    for target in chosen:
        stream, trouble = rendered[target]
        report = Report(target)
        if trouble is not None:
            report.errors.append(f"it does not render: {trouble}")
        else:
            # Before the rest is left out: a rule may look at all objects together.
            report.errors += findings(read(stream))
            if target.folder == "jobs":
                stream = jobs_of(stream)  # the rest is its overlay, which is a target itself
            report.manifests = read(stream)
            report.errors += schema_errors(report.manifests)
            if validators.are_there:
                _ask(validators, report, stream, surroundings)
        yield report


def _rendered(target: Target, deploy: Path) -> tuple[str, str | None]:
    try:
        return target.render(deploy), None
    except RenderError as error:
        return "", str(error)


def _ask(
    validators: Validators, report: Report, stream: str, surroundings: "_Surroundings"
) -> None:
    for platform in PLATFORMS:
        verdict = validators.schemas(stream, platform)
        report.errors += (f"{line} ({platform})" for line in verdict.errors)
        report.warnings += (f"{line} ({platform})" for line in verdict.warnings)
        report.unknown[platform] = verdict.unknown
    if report.target.folder == "jobs":
        return  # their overlay is looked at together with them
    around = surroundings.of(report.target)
    verdict = validators.references([stream, *around])
    known = validators.references(around) if around else Verdict()
    report.errors += (line for line in verdict.errors if line not in known.errors)
    report.warnings += (line for line in verdict.warnings if line not in known.warnings)


class _Surroundings:
    """What is there when a target is applied: the cluster's own objects, and an overlay's jobs."""

    def __init__(self, rendered: dict[Target, tuple[str, str | None]]) -> None:
        self._cluster = [
            stream for target, (stream, _) in rendered.items() if target.folder == "cluster"
        ]
        self._jobs: dict[str, list[str]] = {}
        for target, (stream, _) in rendered.items():
            if target.folder == "jobs":
                overlay = target.name.split("/")[1]
                self._jobs.setdefault(overlay, []).append(jobs_of(stream))

    def of(self, target: Target) -> list[str]:
        """Streams that are read together with the target's own."""
        if target.folder == "cluster":
            return []
        jobs = self._jobs.get(target.name.partition("/")[2], []) if _is_overlay(target) else []
        return [*self._cluster, *jobs]


def _is_overlay(target: Target) -> bool:
    return target.folder == "overlays"


def jobs_of(stream: str) -> str:
    """The objects that deploy/jobs adds, out of a stream with their overlay."""
    labelled = (
        each
        for each in read(stream)
        if (each["metadata"].get("labels") or {}).get("app.kubernetes.io/component") == JOB
    )
    return write(labelled)
