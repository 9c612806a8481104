"""The page and its files: plain ES modules and CSS, no build step, nothing from elsewhere.

The files are served twice: under `/static/<build>/…`, where <build> names all of them as they are,
so that a browser keeps them for ever, and under `/static/…`, where it asks each time whether they
changed. index.html names the former. Comments of scripts and styles are not sent.
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
"""Names the addresses of all pages, and the module of each."""

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
"""No inline script or style runs: what a language model writes stays text."""

HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""`no-cache` asks for the ETag each time, so a new version is seen at once."""

mimetypes.add_type("image/webp", ".webp")  # Python before 3.13 does not know it

IMMUTABLE = "public, max-age=31536000, immutable"

_IMPORT = re.compile(r'(?m)^(?:import|export)\b[^;"=(]*"(\.[^"]+)"')
_ENTRY = re.compile(r'path: "(/[^"]*)".*load: \(\) => import\("\./(pages/[^"]+)"\)')
_COMMENT = re.compile(r"(?m)^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/|//.*)$")


def build_of(folder: Path = STATIC) -> str:
    """A name of the page's files: by another one an open page knows that there is a new version."""
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
    """These modules and all that they import, each once; what is loaded later is left out."""
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

    Its addresses are relative, so that they also hold behind a proxy that puts a path before ours.

    It names the build, and all modules that the first view needs: a browser would else find them
    one after the other, as deep as the imports go.
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
    """A script or style without lines of comment, a fifth of it; the others keep their number."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)


class PageFiles(StaticFiles):
    """The page's files with its headers; those under the name of the build never change."""

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
    """Takes `X-Forwarded-Prefix` off a path that begins with it: some proxies leave it there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            prefix = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/")
            if scope["path"].startswith(f"{prefix}/"):
                scope = {**scope, "path": scope["path"].removeprefix(prefix)}
        await self._app(scope, receive, send)


class MissingPages:
    """Answers a browser at an address that is no page's with a page, and status 404."""

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
    """The addresses of all pages; what each shows is the business of its module."""
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
