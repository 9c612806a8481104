import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from rlaif.hud.page import STATIC, mount_files, page_router

SCRIPTS = sorted(STATIC.rglob("*.js"))
SOURCES = [*SCRIPTS, *sorted(STATIC.rglob("*.css")), STATIC / "index.html"]


@pytest.fixture
def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(page_router())
    mount_files(app)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hud")


def name(path: Path) -> str:
    return str(path.relative_to(STATIC))


async def test_the_page_and_its_files_forbid_what_they_do_not_need(
    client: httpx.AsyncClient,
) -> None:
    for path in ("/", "/static/js/main.js", "/static/css/parts.css", "/static/icon.svg"):
        answer = await client.get(path)
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-cache"


async def test_every_file_that_the_page_asks_for_is_there(client: httpx.AsyncClient) -> None:
    html = (await client.get("/")).text
    for path in set(re.findall(r'(?:href|src)="(/static/[^"]+)"', html)):
        assert (await client.get(path)).status_code == 200, path


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_a_module_imports_only_modules_that_are_there(script: Path) -> None:
    for imported in re.findall(r'(?m)^import .* from "([^"]+)"', script.read_text()):
        assert imported.startswith("."), imported
        assert (script.parent / imported).resolve().is_file(), imported


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_nothing_comes_from_elsewhere_and_text_stays_text(source: Path) -> None:
    text = source.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://", text)
    for trap in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert trap not in text
    if source.suffix == ".html":
        assert not re.search(r"\son\w+=|\sstyle=|<script(?![^>]*src=)", text)


def test_a_file_outside_the_folder_is_not_served() -> None:
    assert STATIC.name == "static"
    assert not any(path.suffix == ".py" for path in STATIC.rglob("*"))


def contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_text_colours_have_the_contrast_of_wcag_aa() -> None:
    root = (STATIC / "css/tokens.css").read_text().split("@media")[0]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", root))
    for text in ("text", "muted", "good", "warn", "bad", "sky", "yellow", "purple"):
        for ground in ("bg", "panel", "raised"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["control"], colours["raised"]) >= 3
