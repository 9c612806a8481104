"""The web app of a service: its routers, and the endpoints that every service has.

/livez /healthz   the process answers; checks nothing
/readyz           200 if every check passes, 503 otherwise, with the reasons
/metrics          metrics in Prometheus text format, including the checks of /readyz
/version          versions of the package, its events and its stored objects
/problems/KIND    meaning of an error of this kind
/docs             interactive documentation: Swagger UI without external assets
"""

from collections.abc import Mapping, Sequence, Set
from difflib import get_close_matches
from html import escape
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import Lifespan

from rlaif.contracts.catalog import CATALOG
from rlaif.contracts.model import Contract
from rlaif.service.auth import HostGuard, WriteGuard
from rlaif.service.health import Readiness, ReadinessReport
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.middleware import BodyLimit, RequestMiddleware
from rlaif.service.problem_kinds import page
from rlaif.service.problems import (
    MEDIA_TYPE,
    ProblemDocument,
    install_problem_handlers,
    not_found,
)
from rlaif.service.settings import ServiceSettings

_CONVENTIONS = (
    "Reads are open; every write needs `Authorization: Bearer <token>`. Errors are "
    "`application/problem+json` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457))."
)


class VersionReport(BaseModel):
    """Body of `/version`."""

    service: str
    version: str | None = Field(description="Null when the package is not installed.")
    schemas: dict[str, int] = Field(
        description="Object that this service writes → its schema version."
    )
    events: list[str] = Field(description="Event types that this code knows.")


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["token"] = {"type": "http", "scheme": "bearer"}
        for operations in document["paths"].values():
            for method, operation in operations.items():
                if method != "get":
                    operation["security"] = [{}, {"token": []}]
                _summarize(operation)
        return document


def _summarize(operation: dict[str, Any]) -> None:
    """Use the description's first sentence as summary in place of FastAPI's derived one."""
    summary, text = operation["summary"], operation.setdefault("description", "")
    if text and summary == str(operation.get("operationId", "")).replace("_", " ").title():
        operation["summary"] = text.split("\n")[0].split(". ")[0].split("; ")[0].rstrip(".")
    operation["description"] = text or f"{summary}."


def build_app(
    *,
    name: str,
    title: str,
    settings: ServiceSettings,
    lifespan: Lifespan[FastAPI] | None,
    routers: Sequence[APIRouter],
    readiness: Readiness,
    metrics: ServiceMetrics,
    writes: Mapping[str, type[Contract]] = MappingProxyType({}),
    public_hosts: Set[str] = frozenset(),
) -> FastAPI:
    """Assemble the app of the package `rlaif-<name>`, without opening connections.

    `settings`, `readiness` and `metrics` are stored in `app.state`. `writes` are the classes of its
    stored objects by name, for `/version`. `public_hosts` are host names in addition to those of
    machine and cluster.
    """
    token = settings.api_token.get_secret_value() if settings.api_token else None
    report = version_report(name, writes)
    app = _App(
        title=title,
        description=_CONVENTIONS,
        version=report.version or "0",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses={"default": _problem_response()},
        servers=[{"url": "."}],  # relative to the document, also behind a proxy with a path prefix
        middleware=[
            Middleware(RequestMiddleware, metrics=metrics),
            Middleware(HostGuard, public=public_hosts),
            Middleware(WriteGuard, token=token, host=settings.host),
            Middleware(BodyLimit),
        ],
    )
    app.state.settings = settings
    app.state.readiness = readiness
    app.state.metrics = metrics
    install_problem_handlers(app)
    app.include_router(_operations(report, readiness, metrics))
    for router in routers:
        app.include_router(router, dependencies=[Depends(only_known_parameters)])
    _add_docs(app)
    return app


FORWARDED = "x-forwarded-to"
"""OpenAPI extension of a route whose parameters another service checks."""


def only_known_parameters(connection: HTTPConnection) -> None:
    """FastAPI dependency that rejects query parameters that a documented route does not have."""
    route = connection.scope["route"]
    documented = isinstance(route, APIRoute) and route.include_in_schema
    if not documented or FORWARDED in (route.openapi_extra or {}):
        return
    known = sorted(_query_parameters(route.dependant))
    unknown = [name for name in connection.query_params if name not in known]
    if unknown:
        raise RequestValidationError(
            [
                {"type": "extra_forbidden", "loc": ("query", name), "msg": _advice(name, known)}
                for name in unknown
            ]
        )


def _query_parameters(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*map(_query_parameters, dependant.dependencies))


def _advice(name: str, known: Sequence[str]) -> str:
    closest = get_close_matches(name, known, n=1, cutoff=0)
    if not closest:
        return "unknown parameter: this route has no query parameters"
    return f"unknown parameter: did you mean {closest[0]}? Known: {', '.join(known)}"


def version_report(name: str, writes: Mapping[str, type[Contract]]) -> VersionReport:
    """The body of `/version` of the service `name`, which stores objects of these classes."""
    try:
        installed = version(f"rlaif-{name}")
    except PackageNotFoundError:
        installed = None
    return VersionReport(
        service=name,
        version=installed,
        schemas={key: kind.model_fields["schema_version"].default for key, kind in writes.items()},
        events=[spec.type for spec in CATALOG],
    )


def _problem_response() -> dict[str, Any]:
    schema = ProblemDocument.model_json_schema()
    # References in pydantic's document do not resolve inside OpenAPI's: inline the schema.
    field_error = schema.pop("$defs")["FieldError"]
    schema["properties"]["errors"]["anyOf"][0]["items"] = field_error
    return {"description": "A problem (RFC 9457).", "content": {MEDIA_TYPE: {"schema": schema}}}


def _operations(report: VersionReport, readiness: Readiness, metrics: ServiceMetrics) -> APIRouter:
    router = APIRouter(tags=["operations"])
    holds = metrics.gauge("check_ok", "1 while a check of `/readyz` holds, else 0.", ("check",))

    @router.get("/livez", operation_id="livez", summary="Liveness: the process answers")
    @router.get("/healthz", include_in_schema=False)
    async def livez() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz", operation_id="readyz", summary="Readiness: all checks")
    async def readyz(response: Response) -> ReadinessReport:
        state = await readiness.report()
        response.status_code = 200 if state.status == "ready" else 503
        response.headers["Cache-Control"] = "no-store"
        return state

    @router.get("/metrics", operation_id="metrics", summary="Prometheus metrics")
    async def scrape() -> Response:
        for check, answer in (await readiness.report()).checks.items():
            holds.labels(check).set(answer.ok)
        return Response(metrics.exposition(), media_type=metrics.content_type)

    @router.get("/problems/{kind}", include_in_schema=False)
    async def explain(kind: str) -> HTMLResponse:
        if (text := page(kind)) is None:
            raise not_found("problem", kind)
        return HTMLResponse(text)

    @router.get("/version", operation_id="version", summary="Versions of code and schemas")
    async def show_version() -> VersionReport:
        return report

    return router


def _add_docs(app: FastAPI) -> None:
    # FastAPI's own page loads Swagger UI from a CDN; this one works without internet access.
    app.mount("/docs/assets", StaticFiles(packages=[("fastapi_offline", "static")]))
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title=escape(app.title),
        swagger_js_url="docs/assets/swagger-ui-bundle.js",
        swagger_css_url="docs/assets/swagger-ui.css",
        swagger_favicon_url="docs/assets/favicon.png",
    )

    async def docs() -> HTMLResponse:
        return page

    app.add_api_route("/docs", docs, include_in_schema=False)
