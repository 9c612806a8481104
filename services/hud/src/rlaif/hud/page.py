"""The page and its files: plain ES modules and CSS, no build step, nothing from elsewhere."""

from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"

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


class PageFiles(StaticFiles):
    """The page's files with its headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def page_router() -> APIRouter:
    """The route of the page itself."""
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    return router


def mount_files(app: FastAPI) -> None:
    """Serve the page's files under /static."""
    app.mount("/static", PageFiles(directory=STATIC))
