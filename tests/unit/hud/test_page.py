import gzip
import re
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from fastapi import FastAPI
from hatchling.builders.wheel import WheelBuilder

from rlaif.hud.page import (
    STATIC,
    MissingPages,
    build_of,
    modules_of,
    mount_files,
    page_modules,
    page_router,
    without_comments,
)

SCRIPTS = sorted(STATIC.rglob("*.js"))
FIRST_VIEW = 100_000
"""Bytes, compressed; what a phone loads in a second."""

OF_ALL_PAGES = re.findall(r'"/static/(css/[^"]+)"', (STATIC / "index.html").read_text())

SOURCES = [*SCRIPTS, *sorted(STATIC.rglob("*.css")), STATIC / "index.html"]


@pytest.fixture
def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(page_router())
    mount_files(app)
    app.add_middleware(MissingPages, build=build_of())
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


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """An address of the page, with something in the place of its parameters."""
    return re.sub(r"{\w+}", "some-id", request.param)


@pytest.mark.parametrize("address", page_modules(), indirect=True)
async def test_every_view_has_an_address_that_can_be_opened(
    client: httpx.AsyncClient, address: str
) -> None:
    answer = await client.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    named = set(re.findall(r'(?:href|src)="([^"]+)"', answer.text)) - {"#main"}
    assert len(named) > 20
    for path in named:
        assert not path.startswith("/"), "behind a proxy our addresses may begin with its path"
        assert (await client.get(urljoin(f"http://hud{address}", path))).status_code in (200, 404)
    for path in (each for each in named if "static" in each):
        assert (await client.get(urljoin(f"http://hud{address}", path))).status_code == 200, path


@pytest.mark.parametrize("page", page_modules().values())
async def test_the_first_view_names_all_modules_that_it_needs(
    client: httpx.AsyncClient, page: str
) -> None:
    address = next(path for path, module in page_modules().items() if module == page)
    html = (await client.get(re.sub(r"{\w+}", "some-id", address))).text
    named = set(re.findall(r'modulepreload" href="[./]+/static/\w+/([^"]+)"', html))
    assert named == set(modules_of("js/main.js", page))


def weight(path: Path) -> int:
    """Bytes of a file as they are sent, with the headers of the answer, as a browser counts."""
    return len(gzip.compress(without_comments(path.read_text()).encode(), 5)) + 300


@pytest.mark.parametrize("page", page_modules().values())
def test_the_first_view_weighs_no_more_than_100_kb(page: str) -> None:
    files = [STATIC / module for module in modules_of("js/main.js", page)]
    files += [STATIC / "index.html", STATIC / "js/first.js", STATIC / "icon.svg"]
    files += [STATIC / path for path in OF_ALL_PAGES]
    assert sum(weight(file) for file in files) <= FIRST_VIEW


async def test_comments_are_not_sent_and_lines_keep_their_number(
    client: httpx.AsyncClient,
) -> None:
    for path in ("js/parts.js", "css/tokens.css"):
        source = (STATIC / path).read_text()
        sent = (await client.get(f"/static/{path}")).text
        assert len(sent) < len(source)
        kept = [line.strip() for line in sent.splitlines()]
        assert not any(line.startswith(("//", "/*", "* ")) for line in kept)
        assert [line for line in kept if line and line not in source] == []
        assert len(kept) == len(source.splitlines())
    script = "const a = /** @type {any} */ (b);\n/* one\n   two */\nconst c = 'http://d'; // e"
    sent = "const a = /** @type {any} */ (b);\n\n\nconst c = 'http://d'; // e"
    assert without_comments(script) == sent


async def test_a_browser_keeps_files_of_a_build_and_asks_for_others(
    client: httpx.AsyncClient,
) -> None:
    kept = await client.get(f"/static/{build_of()}/js/main.js")
    assert kept.status_code == 200
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    old = await client.get("/static/0123456789ab/js/main.js")
    assert old.status_code == 404
    assert "immutable" not in old.headers.get("cache-control", "")


async def test_a_page_that_did_not_change_is_not_sent_again(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/models")).headers["etag"]
    for known in (tag, f"W/{tag}"):
        answer = await client.get("/models", headers={"If-None-Match": known})
        assert (answer.status_code, answer.content) == (304, b"")
    assert (await client.get("/models", headers={"If-None-Match": '"old"'})).status_code == 200


def test_another_file_is_another_build(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    first = build_of(tmp_path)
    (tmp_path / "a.js").write_text("2")
    second = build_of(tmp_path)
    (tmp_path / "a.js").rename(tmp_path / "b.js")
    assert len({first, second, build_of(tmp_path)}) == 3


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_nothing_comes_from_elsewhere_and_text_stays_text(source: Path) -> None:
    text = source.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://", text)
    for trap in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert trap not in text
    if source.suffix == ".html":
        assert not re.search(r"\son\w+=|\sstyle=|<script(?![^>]*src=)", text)


def test_the_wheel_brings_every_file_of_the_page() -> None:
    builder = WheelBuilder(str(STATIC.parents[3]))
    packed = {file.distribution_path for file in builder.recurse_included_files()}
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    assert {f"rlaif/hud/static/{name(path)}" for path in files} <= packed
    assert {path for path in packed if "node_modules" in path or "package" in path} == set()


def contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


TOKENS = dict(
    (name, (day, night))
    for name, day, night in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)",
        (STATIC / "css/tokens.css").read_text().split("@media")[0],
    )
)
TEXTS = ("text", "muted", "good", "warn", "bad", "sky", "yellow", "purple")


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_lines_have_the_contrast_of_wcag_aa(theme: int) -> None:
    colours = {name: both[theme] for name, both in TOKENS.items()}
    for text in TEXTS:
        for ground in ("bg", "panel", "raised"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["control"], colours["raised"]) >= 3
    for number in range(1, 8):
        assert contrast(colours[f"series-{number}"], colours["panel"]) >= 4.5, number


def test_colours_are_defined_in_one_place() -> None:
    """So that each has its two themes."""
    for sheet in STATIC.glob("css/*.css"):
        if sheet.name != "tokens.css":
            assert not re.search(r":[^;{}]*#[0-9a-f]{3,8}\b", sheet.read_text()), sheet.name


@pytest.mark.parametrize("path", ["/nope", "/segments/a/b/c"])
async def test_a_wrong_address_is_a_page_for_a_browser_and_a_problem_for_a_program(
    client: httpx.AsyncClient, path: str
) -> None:
    async with client:
        page = await client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
        assert (page.status_code, page.headers["content-type"].split(";")[0]) == (404, "text/html")
        assert '<html lang="en">' in page.text
        assert "js/pages/missing.js" in page.text
        for other in ("/api/v1/nope", "/static/nope.js"):
            answer = await client.get(other, headers={"Accept": "text/html"})
            assert (answer.status_code, "<html" in answer.text) == (404, False)
        assert "<html" not in (await client.get(path)).text


async def test_the_recording_is_a_picture_by_its_type(client: httpx.AsyncClient) -> None:
    async with client:
        answer = await client.get("/static/trained-agent.webp")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
