"""The reference pages are written by docs/generate.py, so they say what the code says."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "docs" / "generate.py"


def generate(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *options],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_pages_are_what_the_generator_writes():
    done = generate(GENERATOR, "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_and_a_missing_one_are_named(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    script = Path(shutil.copy(GENERATOR, docs))
    shutil.copy(ROOT / "docs" / "observation_sources.py", docs)
    assert generate(script).returncode == 0
    with (docs / "events.md").open("a") as page:
        page.write("an edit by hand\n")
    (docs / "metrics.md").unlink()
    done = generate(script, "--check")
    assert done.returncode == 1
    assert done.stderr.startswith("docs/events.md, docs/metrics.md: not what the code says")
