"""`python -m rlaif.validate`: renders and checks all of deploy/, and prints counts.

Exit codes: 0 all checks passed, 1 a check failed, 2 the checks could not run.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.validate.checking import check
from rlaif.validate.filling_in import to_fill_in
from rlaif.validate.rendering import NoKustomizeError, find_kustomize

PASSED, FAILED, NOT_CHECKED = 0, 1, 2

_FILLED_IN = ("overlays", "cluster", "argocd")
"""Folders whose manifests are applied by hand and contain placeholders."""


def main(argv: Sequence[str] | None = None) -> int:
    """Check; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        find_kustomize()
    except NoKustomizeError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_CHECKED
    reports = []
    for report in check(arguments.deploy, arguments.only):
        reports.append(report)
        mark = "BAD" if report.errors else "ok "
        _print(f"{mark} {report.target.name}: {len(report.manifests)} objects")
        for line in report.errors:
            _print(f"      error: {line}")
    for report in reports if arguments.fill_in else ():
        lines = list(to_fill_in(report.manifests, arguments.deploy))
        if lines and report.target.folder in _FILLED_IN:
            _print(f"To fill in for {report.target.name}:", *(f"      {line}" for line in lines))
    objects = sum(len(report.manifests) for report in reports)
    errors = sum(len(report.errors) for report in reports)
    _print(f"{len(reports)} streams, {objects} objects: {errors} errors")
    return FAILED if errors else PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rlaif-validate",
        description="Renders every overlay, every job and every component alone on the base, "
        "twice, and checks them against the schemas of Kubernetes and the rules of this project. "
        "Needs kubectl or kustomize, and no cluster.",
    )
    parser.add_argument(
        "only", nargs="*", help="Prefixes of what is checked, such as overlays/dev or components."
    )
    parser.add_argument("--deploy", type=Path, default=Path("deploy"), help="Manifest folder.")
    parser.add_argument(
        "--fill-in",
        action="store_true",
        help="List what overlays, the cluster and Argo CD need and git does not contain.",
    )
    return parser


def _print(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
