"""Python code on the pages passes the type checker, and the keys that commands read exist."""

import re
import subprocess
import sys
import textwrap
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlaif.local.places import Secrets

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "libs/**/*.md", "services/**/*.md")
    for path in sorted(ROOT.glob(pattern))
    if "node_modules" not in path.parts
]
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"python3? - <<-?'?(\w+)'?\n(.*?)^\s*\1\s*$", re.MULTILINE | re.DOTALL)
ARGUMENT = re.compile(r"python3? -c (?:'([^']*)'|\"([^\"]*)\")")
MODULE = re.compile(r"python3? -m (rlaif(?:\.\w+)+)")
KEY = re.compile(r'open\("var/secrets\.json"\)\)\["(\w+)"\]')


def snippets(page: str) -> list[str]:
    """The Python code of a page: blocks, here-documents, and arguments of `python -c`."""
    found = [*BLOCK.findall(page), *(code for _, code in HEREDOC.findall(page))]
    found += [single or double for single, double in ARGUMENT.findall(page)]
    return [textwrap.dedent(each) for each in found]


def errors(files: list[Path]) -> str:
    """What the type checker reports, apart from missing annotations."""
    options = ("--follow-imports=silent", "--allow-untyped-defs", "--allow-untyped-calls")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--check-untyped-defs", *map(str, files)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_code_on_the_pages_calls_what_exists(tmp_path: Path) -> None:
    files: list[Path] = []
    for page in PAGES:
        for code in snippets(page.read_text(encoding="utf-8")):
            files.append(tmp_path / f"snippet_{len(files)}.py")
            files[-1].write_text(f"# {page.relative_to(ROOT)}\n{code}", encoding="utf-8")
    assert len(files) > 5
    assert errors(files) == ""


def test_a_wrong_argument_is_found(tmp_path: Path) -> None:
    page = (
        "```bash\npython - <<'PY'\nfrom rlaif.bus.connection import Bus\n"
        "async def main(bus: Bus):\n    await bus.dead_letters(limit=100)\nPY\n```\n"
    )
    (code,) = snippets(page)
    (tmp_path / "snippet.py").write_text(code)
    assert 'keyword argument "limit"' in errors([tmp_path / "snippet.py"])


def test_a_secret_that_a_command_reads_is_stored() -> None:
    read = {key for page in PAGES for key in KEY.findall(page.read_text(encoding="utf-8"))}
    assert read
    # `nats_token` is no credential: the users' passwords are derived from it.
    assert read <= {field.name for field in fields(Secrets)} - {"nats_token"}


def documented_modules() -> list[str]:
    return sorted({name for page in PAGES for name in MODULE.findall(page.read_text("utf-8"))})


@pytest.mark.parametrize("name", documented_modules())
def test_documented_modules_run(name: str) -> None:
    spec = find_spec(name)
    assert spec is not None
    assert not spec.submodule_search_locations or find_spec(f"{name}.__main__")
