"""`python -m rlaif.validate`: renders and checks all of deploy/, and prints figures.

Exit codes: 0 all is right, 1 something is wrong, 2 it could not be checked.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.validate.checking import Report, check
from rlaif.validate.crds import PLATFORMS, ValidatorError, Validators
from rlaif.validate.filling_in import to_fill_in
from rlaif.validate.rendering import NoKustomizeError, find_kustomize

RIGHT, WRONG, NOT_CHECKED = 0, 1, 2

_FILLED_IN = ("overlays", "cluster", "argocd")
"""Folders whose manifests are applied by hand and have values to fill in."""


def main(argv: Sequence[str] | None = None) -> int:
    """Check; returns the exit code."""
    arguments = _parser().parse_args(argv)
    validators = Validators(arguments.validators)
    try:
        find_kustomize()
        if not validators.are_there:
            _say(f"{arguments.validators} holds no validators: operators' kinds are not checked")
        reports = []
        for report in check(arguments.deploy, validators, arguments.only):
            _tell(report, warnings=arguments.warnings)
            reports.append(report)
    except (NoKustomizeError, ValidatorError) as error:
        sys.stderr.write(f"{error}\n")
        return NOT_CHECKED
    if arguments.fill_in:
        for report in filter(lambda each: each.target.folder in _FILLED_IN, reports):
            _tell_what_to_fill_in(report, arguments.deploy)
    _sum_up(reports, validators)
    return RIGHT if all(report.is_right for report in reports) else WRONG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rlaif-validate",
        description="Renders every overlay, every job and every component alone on the base, "
        "twice, and checks schemas and our own rules. Needs kubectl or kustomize, and no cluster.",
    )
    parser.add_argument(
        "only", nargs="*", help="Check only what begins so, such as overlays/dev or components."
    )
    parser.add_argument(
        "--deploy", type=Path, default=Path("deploy"), help="The folder of manifests."
    )
    parser.add_argument(
        "--validators",
        type=Path,
        default=Path("../shared/crds"),
        help="Folder with the schemas of operators and their validators; left out when not there.",
    )
    parser.add_argument("--warnings", action="store_true", help="Print warnings too.")
    parser.add_argument(
        "--fill-in",
        action="store_true",
        help="List what overlays, the cluster and Argo CD need and git does not hold.",
    )
    return parser


def _tell(report: Report, *, warnings: bool) -> None:
    mark = "ok " if report.is_right else "BAD"
    _say(f"{mark} {report.target.name}: {len(report.manifests)} objects")
    for line in report.errors:
        _say(f"      error: {line}")
    for platform, lines in report.unknown.items():
        for line in lines:
            _say(f"      unknown: {line} ({platform})")
    if warnings:
        for line in report.warnings:
            _say(f"      warning: {line}")


def _tell_what_to_fill_in(report: Report, deploy: Path) -> None:
    if lines := list(to_fill_in(report.manifests, deploy)):
        _say(f"To fill in for {report.target.name}:")
    for line in lines:
        _say(f"      {line}")


def _sum_up(reports: Sequence[Report], validators: Validators) -> None:
    objects = sum(len(report.manifests) for report in reports)
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    _say(f"{len(reports)} streams, {objects} objects: {errors} errors, {warnings} warnings")
    if validators.are_there:
        for platform in PLATFORMS:
            unknown = sum(len(report.unknown.get(platform, ())) for report in reports)
            _say(f"  {platform}: {unknown} of unknown kind")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
