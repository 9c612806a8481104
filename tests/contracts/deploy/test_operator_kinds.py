"""Kinds of operators against their schemas on three platforms, and references between objects.

The schemas and their two validators are definitions of other projects and not in this repository:
`CRD_VALIDATORS` names their folder. It takes some minutes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from rlaif.validate.checking import jobs_of
from rlaif.validate.manifests import Manifest
from rlaif.validate.targets import Target, targets

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
TARGETS = {target.name: target for target in targets(DEPLOY)}
VALIDATORS = Path(os.environ.get("CRD_VALIDATORS", "/nowhere"))


def variant_options(openshift: str, ai: str, kubernetes: str) -> list[str]:
    variants = [word for name in (openshift, ai, "rhbk") for word in ("--variant", name)]
    return [*variants, "--kube-version", kubernetes]


PLATFORMS = {
    "newest": [],
    "ocp-4.20 + rhoai-3.4": variant_options("ocp-4.20", "rhoai-3.4", "1.33"),
    "ocp-4.22 + rhoai-3.5": variant_options("ocp-4.22", "rhoai-3.5", "1.35"),
}
if not (VALIDATORS / "lint.py").is_file():
    pytest.skip(
        "no schemas of operators: name their folder in CRD_VALIDATORS", allow_module_level=True
    )


@pytest.fixture
def applied(rendered: dict[str, list[Manifest]]) -> Callable[[Target], list[Manifest]]:
    """The objects that a target adds; the overlay of a job is a target itself."""
    return lambda target: (
        jobs_of(rendered[target.name]) if target.folder == "jobs" else rendered[target.name]
    )


def run(program: str, *options: str, manifests: list[Manifest]) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(VALIDATORS / program), *options],
        input=yaml.safe_dump_all(manifests), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1, 2), done.stderr
    assert not done.stderr.strip()
    return done.stdout.splitlines()


def around(target: Target) -> list[Target]:
    """Targets that exist where one is applied: the cluster's, and the jobs of an overlay."""
    jobs = f"jobs/{target.name.partition('/')[2]}/"
    return [
        each
        for each in TARGETS.values()
        if each.folder == "cluster" or (target.folder == "overlays" and each.name.startswith(jobs))
    ]


def broken_references(manifests: list[Manifest]) -> set[str]:
    lines = run("lint.py", "--external", "Secret/*", manifests=manifests)
    return {line for line in lines if line.startswith("ERROR")}


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", TARGETS)
def test_every_kind_and_field_is_known_to_the_platform(name, platform, applied):
    found = run("validate.py", "--json", *PLATFORMS[platform], manifests=applied(TARGETS[name]))
    lines = [json.loads(line) for line in found if line.startswith("{")]
    assert [line for line in lines if line["level"] in ("ERROR", "UNKNOWN")] == []


@pytest.mark.parametrize("name", [name for name in TARGETS if not name.startswith("jobs/")])
def test_every_reference_has_a_target(name, applied):
    target = TARGETS[name]
    others = [] if target.folder == "cluster" else around(target)
    there = [manifest for each in others for manifest in applied(each)]
    known = broken_references(there) if there else set()
    assert broken_references([*applied(target), *there]) - known == set()
