"""The page and its files: plain ES modules and CSS, without a build step or external sources.

The files are served twice: under `/static/<build>/…`, where <build> is a digest of all files, so
that browsers cache them forever, and under `/static/…`, where browsers revalidate them each time.
index.html uses the former. Comments of scripts and styles are not sent.
"""

import asyncio
import mimetypes
import re
from collections.abc import Callable, Coroutine
from hashlib import sha256
from pathlib import Path
from posixpath import normpath
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rlaif.hud.routes.stored import unless_cached

STATIC = Path(__file__).parent / "static"

REGISTRY = "js/routes.js"
"""Script with the address and module of each page."""

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self' ws: wss:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
"""Disables inline scripts and styles, so that output of language models remains text."""

HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""`no-cache` revalidates by ETag each time, so a new version is loaded at once."""

mimetypes.add_type("image/webp", ".webp")  # unknown before Python 3.13

IMMUTABLE = "public, max-age=31536000, immutable"

_IMPORT = re.compile(r'(?m)^(?:import|export)\b[^;"=(]*"(\.[^"]+)"')
_ENTRY = re.compile(r'path: "(/[^"]*)".*load: \(\) => import\("\./(pages/[^"]+)"\)')
_COMMENT = re.compile(r"(?m)^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/|//.*)$")


def build_of(folder: Path = STATIC) -> str:
    """Digest of the page's files: when it changes, an open page detects a new version."""
    digest = sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def page_modules(folder: Path = STATIC) -> dict[str, str]:
    """Address of each page, as FastAPI writes it, and its module: "/models/{version}"."""
    entries = _ENTRY.findall((folder / REGISTRY).read_text())
    return {re.sub(r":(\w+)", r"{\1}", path): f"js/{module}" for path, module in entries}


def modules_of(*roots: str, folder: Path = STATIC) -> list[str]:
    """The modules and all their static imports, each once; dynamic imports are left out."""
    found: list[str] = []
    waiting = list(roots)
    while waiting:
        module = waiting.pop(0)
        if module in found:
            continue
        found.append(module)
        home = module.rpartition("/")[0]
        imported = _IMPORT.findall((folder / module).read_text())
        waiting += [normpath(f"{home}/{path}") for path in imported]
    return found


def page_html(path: str, module: str, build: str, folder: Path = STATIC) -> str:
    """index.html for the page of `module` at `path`.

    Its addresses are relative, so that they remain valid behind a proxy that adds a path prefix.

    It has the build and preloads all modules of the first view: a browser would otherwise discover
    them one level of imports at a time.
    """
    html = (folder / "index.html").read_text()
    preloads = "".join(
        f'    <link rel="modulepreload" href="/static/{each}">\n'
        for each in modules_of("js/main.js", module, folder=folder)
    )
    head = f'    <meta name="build" content="{build}">\n{preloads}  </head>'
    html = html.replace("  </head>", head, 1).replace('"/static/', f'"/static/{build}/')
    up = "../" * (path.count("/") - 1) or "./"
    return re.sub(r'\b(href|src)="/', rf'\1="{up}', html)


def without_comments(source: str) -> str:
    """A script or style without comment lines, a fifth of it; line numbers are kept."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)


class PageFiles(StaticFiles):
    """The page's files with their headers; those under the build's digest never change."""

    def __init__(self, folder: Path, build: str) -> None:
        super().__init__(directory=folder)
        self._prefix = f"{build}/"

    async def get_response(self, path: str, scope: Scope) -> Response:
        named = path.startswith(self._prefix)
        response = await super().get_response(path.removeprefix(self._prefix), scope)
        if isinstance(response, FileResponse) and path.endswith((".js", ".css")):
            source = await asyncio.to_thread(Path(response.path).read_text, "utf-8")
            tag = {"ETag": response.headers["etag"]}
            response = Response(without_comments(source), 200, tag, response.media_type)
        response.headers.update(HEADERS)
        if named and response.status_code in (200, 304):
            response.headers["Cache-Control"] = IMMUTABLE
        return response


class ForwardedPrefix:
    """Removes `X-Forwarded-Prefix` from the path, as some proxies do not strip it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            prefix = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/")
            if scope["path"].startswith(f"{prefix}/"):
                scope = {**scope, "path": scope["path"].removeprefix(prefix)}
        await self._app(scope, receive, send)


class MissingPages:
    """Serves browsers a page with status 404 at unknown addresses."""

    def __init__(self, app: ASGIApp, build: str) -> None:
        self._app, self._build = app, build

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_for_reading(scope):
            return await self._app(scope, receive, send)
        is_missing = False

        async def unless_missing(message: Message) -> None:
            nonlocal is_missing
            is_missing |= message.get("status") == 404
            if not is_missing:
                await send(message)

        await self._app(scope, receive, unless_missing)
        if is_missing:
            html = page_html(scope["path"], "js/pages/missing.js", self._build)
            await Response(html, 404, HEADERS, "text/html")(scope, receive, send)


def _is_for_reading(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    accepts = Headers(scope=scope).get("accept", "")
    return "text/html" in accepts and not scope["path"].startswith(("/api/", "/static/"))


def page_router(build: str | None = None) -> APIRouter:
    """The routes of all pages; each page's content is made by its module."""
    router = APIRouter()
    build = build or build_of()
    for path, module in page_modules().items():
        show = _showing(page_html(path, module, build).encode(), f'"{build}"')
        router.add_api_route(path, show, methods=["GET"], include_in_schema=False)
    return router


def _showing(html: bytes, etag: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def show(request: Request) -> Response:
        return unless_cached(request, html, "text/html", {**HEADERS, "ETag": etag})

    return show


def mount_files(app: FastAPI, build: str | None = None) -> None:
    """Serve the page's files under /static."""
    app.mount("/static", PageFiles(STATIC, build or build_of()))
