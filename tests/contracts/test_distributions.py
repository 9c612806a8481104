"""Each distribution declares what it imports, and works where nothing but that is installed."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HOMES = sorted(
    path.parent for top in ("libs", "services", "deploy") for path in ROOT.glob(f"{top}/*/src")
)
FOR_TYPES_ALONE = {"_typeshed"}
PARTS_OF_COMMON = {
    "tracing": "tracing",
    "bus": "bus",
    "storage": "storage",
    "service": "service",
    "llm": "llm",
    "client": "client",
    "reward_net": "reward-net",
    "bootstrap": "bootstrap",
}
"""Package of rlaif-common: the extra that brings what it needs. `contracts` needs none."""

EXTRAS = {"trainer": "films"}
"""Extra of a service that some of its modules need."""

ALONE = [
    *((ROOT / "libs/common", extra, package) for package, extra in PARTS_OF_COMMON.items()),
    (ROOT / "libs/common", "", "contracts"),
    (ROOT / "libs/game", "fast", ""),
    *((home, EXTRAS.get(home.name, ""), "") for home in HOMES if home.parent.name != "libs"),
    (ROOT / "libs/testing", "", ""),
]
"""Distribution, extra, package of it (all when empty)."""


def project(home: Path) -> dict[str, Any]:
    about: dict[str, Any] = tomllib.loads((home / "pyproject.toml").read_text())["project"]
    return about


def declared(home: Path, extras: frozenset[str] | None = None) -> list[Requirement]:
    """What a distribution asks for, with these extras, or with all."""
    about = project(home)
    optional = about.get("optional-dependencies", {})
    groups = [lines for extra, lines in optional.items() if extras is None or extra in extras]
    return [Requirement(line) for lines in (about["dependencies"], *groups) for line in lines]


OURS = {canonicalize_name(project(home)["name"]): home for home in HOMES}
PACKAGES = {
    home: [path.parent for path in (home / "src/rlaif").glob("*/__init__.py")] for home in HOMES
}
OWNER = {path.name: home for home, packages in PACKAGES.items() for path in packages}


def imports(source: str) -> Iterator[str]:
    """Top-level modules that a source imports, ours as `rlaif.package`."""
    for node in ast.walk(ast.parse(source)):
        names = (
            [node.module]
            if isinstance(node, ast.ImportFrom) and node.module
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        for name in names:
            yield ".".join(name.split(".")[: 2 if name.startswith("rlaif.") else 1])


def undeclared(home: Path) -> set[str]:
    """Modules that a distribution imports without asking for what holds them."""
    asked = declared(home)
    names = {canonicalize_name(each.name) for each in asked}
    extras = {extra for each in asked if each.name == "rlaif-common" for extra in each.extras}
    holders = metadata.packages_distributions()
    found = set()
    for path in (home / "src").rglob("*.py"):
        for module in imports(path.read_text()):
            top, _, package = module.partition(".")
            if top in sys.stdlib_module_names or top in FOR_TYPES_ALONE:
                continue
            if top != "rlaif":
                # The package of an extra may not be installed: it is known by its name.
                own = holders.get(top) or [top, f"{top}-skinny"]
                known = bool({canonicalize_name(name) for name in own} & names)
            elif OWNER[package] == home:
                known = True
            else:
                known = canonicalize_name(project(OWNER[package])["name"]) in names
                known = known and PARTS_OF_COMMON.get(package) in {None, *extras}
            if not known:
                found.add(module)
    return found


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_a_distribution_declares_what_it_imports(home):
    assert undeclared(home) == set()


def test_the_search_finds_what_is_not_declared(tmp_path):
    package = tmp_path / "src/rlaif/judge"
    package.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "rlaif-x"\ndependencies = ["rlaif-common[bus]", "httpx>=0.28"]\n'
    )
    (package / "x.py").write_text(
        "import numpy\nimport httpx, os\nfrom rlaif.bus.ports import Publisher\n"
        "from rlaif.storage import keys\nfrom rlaif.game.machine import files\n"
    )
    assert undeclared(tmp_path) == {"numpy", "rlaif.storage", "rlaif.game"}


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_every_package_has_its_types_seen(home):
    assert [path for path in PACKAGES[home] if not (path / "py.typed").is_file()] == []


def install_alone(home: Path, extras: frozenset[str], site: Path) -> list[Path]:
    """Link what pip would install with one distribution, and nothing else, into a directory.

    Returns:
        Our source directories, which an editable install would put on the path.
    """
    sources: list[Path] = []
    waiting = [(canonicalize_name(project(home)["name"]), extras)]
    done: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in done:
            continue
        done.add((name, wanted))
        if name in OURS:
            sources.append(OURS[name] / "src")
            needs = declared(OURS[name], wanted)
        else:
            try:
                found = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                continue  # for another platform
            for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
                link = site / top
                if not link.exists():
                    link.symlink_to(Path(str(found.locate_file(top))))
            needs = [Requirement(line) for line in found.requires or ()]
        for each in needs:
            environments = [{"extra": extra} for extra in wanted] or [{"extra": ""}]
            if each.marker is None or any(each.marker.evaluate(env) for env in environments):
                waiting.append((canonicalize_name(each.name), frozenset(each.extras)))
    return sources


def modules(home: Path, package: str) -> list[str]:
    base = home / "src"
    names = sorted(
        ".".join(path.relative_to(base).with_suffix("").parts)
        for path in (base / "rlaif" / package).rglob("*.py")
    )
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize(
    ("home", "extra", "package"), ALONE, ids=lambda each: getattr(each, "name", each) or "-"
)
def test_a_distribution_works_alone(tmp_path, home, extra, package):
    sources = install_alone(home, frozenset({extra} if extra else ()), tmp_path)
    code = (
        f"import sys; sys.path[:0] = {[str(path) for path in (tmp_path, *sources)]!r}\n"
        f"import importlib\nfor name in {modules(home, package)!r}: importlib.import_module(name)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
