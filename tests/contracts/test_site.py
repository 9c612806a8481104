"""The documents as a static site: whole, links that lead somewhere, nothing from elsewhere.

Needs MkDocs, which nothing but `make site` installs.
"""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
MKDOCS = Path(os.environ.get("SITE_MKDOCS", ROOT / ".venv-site/bin/mkdocs"))
LOADED = re.compile(r'<(?:script|img|link)\b[^>]*\b(?:src|href)="?(https?://[^"\s>]+)')


@pytest.fixture
def site(tmp_path: Path) -> Path:
    if not MKDOCS.exists():
        reason = "MkDocs is not installed: make site installs it"
        if os.environ.get("REQUIRE_SITE"):
            pytest.fail(reason)
        pytest.skip(reason)
    command = [str(MKDOCS), "build", "--strict", "--quiet", f"--site-dir={tmp_path}/site"]
    subprocess.run(command, cwd=ROOT, check=True)
    return tmp_path / "site"


def test_every_document_is_a_page_that_loads_nothing_from_elsewhere(site: Path) -> None:
    documents = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    pages = {
        (path.parent / "index.html" if path.stem == "README" else path.with_suffix(".html"))
        for path in documents
    }
    assert {path for path in pages if not (site / path).is_file()} == set()
    assert not list(site.rglob("*.py")), "programs are no documents"
    for page in site.rglob("*.html"):
        foreign = [each for each in LOADED.findall(page.read_text()) if "canonical" not in each]
        assert foreign == [], page


def test_links_of_a_page_lead_to_files_of_the_site(site: Path) -> None:
    broken = []
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue  # its addresses begin at the root of a server
        article = re.search(r"<article.*?</article>", page.read_text(), re.DOTALL)
        for link in re.findall(r'href="([^"]+)"', article[0] if article else ""):
            parts = urlsplit(link)
            if not parts.scheme and parts.path and not (page.parent / unquote(parts.path)).exists():
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []
