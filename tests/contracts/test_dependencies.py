"""Every dependency is pinned, with digests; its floor was tried, and so were the Pythons."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
VERSION = ROOT / "VERSION"
PROJECTS = sorted(
    path for top in ("libs", "services", "deploy") for path in ROOT.glob(f"{top}/*/pyproject.toml")
)


def pins(name: str) -> dict[str, Version]:
    lines = (ROOT / name).read_text().splitlines()
    pinned = [line.split("==") for line in lines if "==" in line]
    return {canonicalize_name(package): Version(version) for package, version in pinned}


def locked(name: str) -> dict[str, set[str]]:
    """Package → the digests that its files may have."""
    entries = re.findall(
        r"^(\S+==\S+) \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
        (ROOT / name).read_text(), re.MULTILINE,
    )  # fmt: skip
    return {package: set(re.findall("[0-9a-f]{64}", digests)) for package, digests in entries}


def requirements(path: Path) -> list[Requirement]:
    project = tomllib.loads(path.read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    lines = [line for group in (project["dependencies"], *extras) for line in group]
    found = [Requirement(line) for line in lines]
    return [each for each in found if not each.name.startswith("rlaif-")]


def tools() -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {canonicalize_name(tool) for tool in settings["dependency-groups"]["dev"]}


def floor(requirement: Requirement) -> Version | None:
    [*versions] = [each.version for each in requirement.specifier if each.operator in (">=", "==")]
    return Version(versions[0]) if versions else None


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parent.name)
def test_each_dependency_has_a_floor_that_is_tried(path):
    lowest, pinned = pins("constraints-floor.txt"), pins("constraints.txt")
    for requirement in requirements(path):
        name, least = canonicalize_name(requirement.name), floor(requirement)
        assert least is not None, f"{requirement} names no floor"
        assert lowest[name].release[: len(least.release)] == least.release, "run: make floors"
        assert pinned[name] in requirement.specifier


def test_the_locks_hold_what_is_pinned_with_digests():
    entries = locked("requirements.lock") | locked("requirements-dev.lock")
    versions = dict(package.split("==") for package in entries)
    assert {canonicalize_name(name): Version(each) for name, each in versions.items()} == {
        name: version for name, version in pins("constraints.txt").items() if name != "torch"
    }, "run: make lock"
    assert all(entries.values())


def test_the_lock_of_rays_dashboard_has_the_pinned_versions():
    """The image of the trainer is installed from both locks with these constraints."""
    lock = (ROOT / "deploy/containers/ray-dashboard.lock").read_text()
    found = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    others = {name.partition("==")[0] for name in locked("requirements.lock")}
    assert found.keys().isdisjoint(others), "run: make ray-lock"
    pinned = pins("constraints.txt")
    wrong = {
        name for name in found if Version(found[name]) != pinned.get(name, Version(found[name]))
    }
    assert not wrong, "run: make ray-lock"
    assert "aiohttp" in found, "the dashboard's own web server"


def test_what_users_install_holds_no_tool_but_the_installer():
    users, developers = (
        {canonicalize_name(package.partition("==")[0]) for package in locked(name)}
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert users & tools() == {"uv"}
    assert users.isdisjoint(developers)


def test_the_locks_name_no_place_to_fetch_from():
    for name in ("requirements.lock", "requirements-dev.lock"):
        assert "://" not in (ROOT / name).read_text()


def test_each_tool_of_developers_is_pinned():
    assert tools() <= set(pins("constraints.txt"))
    assert tools() <= set(pins("constraints-floor.txt"))


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parent.name)
def test_all_distributions_have_the_one_version(path):
    settings = tomllib.loads(path.read_text())
    assert settings["project"]["dynamic"] == ["version"]
    assert (path.parent / settings["tool"]["hatch"]["version"]["path"]).resolve() == VERSION


def test_a_tag_names_the_version_of_its_commit():
    tags = subprocess.run(
        ["git", "tag", "--points-at", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    named = [tag for tag in tags.stdout.split() if tag.startswith("v")]
    assert named in ([], [f"v{Version(VERSION.read_text().strip())}"])


def test_every_distribution_runs_on_the_pythons_that_are_promised():
    asked = {tomllib.loads(path.read_text())["project"]["requires-python"] for path in PROJECTS}
    assert asked == {">=3.11"}
    assert "(3, 11) <= v < (3, 15)" in (ROOT / "Makefile").read_text()
    assert "Python 3.11, 3.12 or 3.13" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("trick", "told"),
    [
        ("sys.version_info = (3, 10, 2)", "is Python 3.10: 3.11 to 3.14 is needed"),
        ("sys.version_info = (3, 15, 0)", "is Python 3.15: 3.11 to 3.14 is needed"),
        ("sys.modules['ensurepip'] = None", "cannot make virtual environments"),
    ],
)
def test_set_up_names_a_python_that_will_not_do_and_the_remedy(tmp_path, trick, told):
    python = tmp_path / "python"
    code = f"import sys; {trick}; exec(sys.argv[1])"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$2"\n')
    python.chmod(0o755)
    done = set_up(tmp_path, str(python))
    assert done.returncode != 0
    assert told in done.stderr
    assert "make PYTHON=/path/to/python3.11" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_set_up_says_what_to_do_where_no_python_is_found(tmp_path):
    done = set_up(tmp_path, "")
    assert done.returncode != 0
    assert "apt-get install python3.11 python3.11-venv" in done.stderr


def set_up(tmp_path: Path, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", f"VENV={tmp_path}/venv", f"PYTHON={python}", "setup"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_a_python_of_this_machine_is_found(which):
    done = subprocess.run(
        [sys.executable, ".ci/pythons.py", which],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"PATH": f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert Path(done.stdout.strip()).exists()
