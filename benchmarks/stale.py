"""Write the results into benchmarks/README.md, and mark those of outdated code as stale.

    python benchmarks/stale.py                    writes the page; docs/generate.py does it, too
    python benchmarks/stale.py --measured NAME    results/NAME is of this code (refresh.py does it)

`measured.json` has a digest of the measured code for each result. The digest leaves docstrings,
comments, formatting and descriptions of settings out. Commit and figures of a row come from the
result itself, if that begins with the commit, as all do that `make bench-refresh` wrote.
"""

import argparse
import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks"
PAGE, DIGESTS, RESULTS = HERE / "README.md", HERE / "measured.json", HERE / "results"
PINNED = ("numba", "numpy", "pyboy", "ray", "torch")
"""Packages whose version affects all figures."""

BENCHMARKS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "benchmarks.toml").read_text("utf-8"))
PARTS: dict[str, list[str]] = BENCHMARKS.pop("parts")
FORMS: dict[str, str] = {
    metric: form for each in BENCHMARKS.values() for metric, form in each.get("rows", {}).items()
}

ROW = re.compile(
    r"^\| (?P<metric>[^|]+) \|(?P<target>[^|]*)\| (?P<result>[^|]+) \| (?P<command>[^|]+) "
    r"\| \[raw\]\(results/(?P<raw>[^)]+)\) \| `(?P<commit>\w{7}\+?)`(?P<stale>, stale)? \|$",
    re.MULTILINE,
)


@cache
def digest(raw: str) -> str:
    """Digest of the syntax trees of the measured code, without texts, and the pinned packages."""
    return digest_of(code_of(BENCHMARKS[raw]["code"]), ROOT)


def code_of(names: Iterable[str]) -> list[str]:
    """Folders and scripts, with names of parts expanded."""
    return [each for name in names for each in (code_of(PARTS[name]) if name in PARTS else [name])]


def digest_of(code: Iterable[str], root: Path) -> str:
    """Digest of these folders and scripts."""
    found = sha256()
    for name in code:
        top = root / name
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
            found.update(path.relative_to(root).as_posix().encode())
            found.update(_digest(path))
    pins = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found.update("".join(pin for pin in pins if pin.partition("==")[0] in PINNED).encode())
    return found.hexdigest()


@cache
def _digest(path: Path) -> bytes:
    return sha256(_tree(path.read_text(encoding="utf-8")).encode()).digest()


def _tree(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_text(each)]
            node.body = kept  # type: ignore[attr-defined]  # every node with a list of statements
        if isinstance(node, ast.Call):
            node.keywords = [each for each in node.keywords if each.arg != "description"]
    return _dumped(tree)


def _dumped(value: Any) -> str:
    """`ast.dump`, but equal in every version of Python: without empty fields."""
    if isinstance(value, list):
        return f"[{','.join(map(_dumped, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = [
        f"{name}={_dumped(each)}"
        for name, each in ast.iter_fields(value)
        if each is not None and each != []
    ]
    return f"{type(value).__name__}({','.join(fields)})"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_stale(raw: str) -> bool:
    """Whether the measured code differs from the current code."""
    measured = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return bool(measured.get(raw) != digest(raw))


def result_of(raw: str) -> tuple[str, dict[str, Any]] | None:
    """Commit and figures of a result (for a folder, of its summary); None without a commit."""
    path = RESULTS / raw
    if path.is_dir():
        summary = path / "summary.json"
        figures = json.loads(summary.read_text("utf-8")) if summary.exists() else {}
        machine = figures.get("machine")
        return (machine["commit"], figures) if isinstance(machine, dict) else None
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    name, _, commit = lines[0].partition(": ")
    return (commit, json.loads(lines[-1])) if name == "commit" else None


def marked(page: str) -> str:
    """The page with figures and commits of the results, and with marks of stale rows."""

    def write(row: re.Match[str]) -> str:
        metric, raw = row["metric"], row["raw"]
        result, commit = row["result"], row["commit"]
        if (found := result_of(raw)) is not None:
            commit, figures = found
            if metric in FORMS:
                result = _formatted(FORMS[metric], figures)
        mark = ", stale" if is_stale(raw) else ""
        return (
            f"| {metric} |{row['target']}| {result} | {row['command']} | [raw](results/{raw}) "
            f"| `{commit}`{mark} |"
        )

    return ROW.sub(write, page)


def _formatted(form: str, figures: dict[str, Any]) -> str:
    """The text of a row; "not measured" for missing figures, such as of a trainer not installed."""
    try:
        return form.format(**figures)
    except (KeyError, TypeError, ValueError):  # absent, or null instead of a number
        return "not measured"


def record(names: list[str]) -> None:
    """Record that these results are of the current code, and write the page."""
    measured = json.loads(DIGESTS.read_text(encoding="utf-8")) | {n: digest(n) for n in names}
    DIGESTS.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(marked(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = sorted(BENCHMARKS)
    parser.add_argument("--measured", nargs="*", default=[], choices=names, metavar="NAME")
    record(parser.parse_args().measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
