"""The endpoints and habits that every service has."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from html.parser import HTMLParser

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.openapi.models import OpenAPI
from fastapi.responses import StreamingResponse

from rlaif.service.app import FORWARDED
from rlaif.service.health import Readiness
from rlaif.service.paging import Paging
from rlaif.tracing.spans import current_trace_id

Build = Callable[..., FastAPI]
Client = Callable[[FastAPI], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def router() -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["things"])

    @router.get("/things/{id}", summary="One thing")
    async def thing(id: int) -> dict[str, str | None]:
        return {"trace_id": current_trace_id()}

    @router.get("/things", summary="Things")
    async def things(paging: Paging, order: str = "") -> None: ...

    @router.get("/page", include_in_schema=False)
    async def page() -> None: ...

    @router.get("/elsewhere", openapi_extra={FORWARDED: "another"})
    async def elsewhere() -> None: ...

    @router.post("/things", summary="Another thing")
    async def make() -> None: ...

    @router.get("/broken")
    async def broken() -> None:
        raise RuntimeError("the secret cause")

    return router


@pytest.mark.parametrize(
    ("query", "pointers", "advice"),
    [
        ("limits=5", ["/limits"], "limit"),
        ("limit=5&Order=x&cursr=", ["/Order", "/cursr"], "order"),
    ],
)
async def test_unknown_query_parameters_are_rejected(
    build: Build, client: Client, router: APIRouter, query: str, pointers: list[str], advice: str
) -> None:
    async with client(build(router)) as http:
        answer = await http.get(f"/api/v1/things?{query}")
        known = await http.get("/api/v1/things?limit=5&order=x")
    assert (answer.status_code, known.status_code) == (422, 200)
    assert answer.json()["type"] == "/problems/invalid-request"
    assert {each["location"] for each in answer.json()["errors"]} == {"query"}
    assert [each["pointer"] for each in answer.json()["errors"]] == pointers
    assert f"did you mean {advice}?" in answer.json()["errors"][0]["detail"]


async def test_a_route_without_parameters_accepts_none(
    build: Build, client: Client, router: APIRouter
) -> None:
    async with client(build(router)) as http:
        assert (await http.get("/api/v1/things/1?limit=5")).status_code == 422


@pytest.mark.parametrize("path", ["page", "elsewhere"])
async def test_pages_and_forwarded_requests_may_have_any_parameter(
    build: Build, client: Client, router: APIRouter, path: str
) -> None:
    async with client(build(router)) as http:
        assert (await http.get(f"/api/v1/{path}?run=1")).status_code == 200


async def test_readiness_follows_the_checks_and_the_stop(build: Build, client: Client) -> None:
    readiness, trouble = Readiness(), dict[str, str]()

    async def store() -> str | None:
        return trouble.get("store")

    readiness.add("nats", lambda: trouble.get("nats"))
    readiness.add("store", store)
    async with client(build(readiness=readiness)) as http:
        answer = await http.get("/readyz")
        assert answer.status_code == 200
        assert answer.json() == {
            "status": "ready",
            "checks": {"nats": {"ok": True, "detail": None}, "store": {"ok": True, "detail": None}},
        }
        trouble["store"] = "403"
        answer = await http.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["status"] == "not ready"
        assert answer.json()["checks"]["store"] == {"ok": False, "detail": "403"}
        trouble.clear()
        assert (await http.get("/readyz")).status_code == 200
        readiness.set_stopping()
        answer = await http.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "stopping")


async def test_metrics_say_which_check_of_readiness_holds_now(build: Build, client: Client) -> None:
    readiness, trouble = Readiness(), dict[str, str]()
    readiness.add("nats", lambda: trouble.get("nats"))
    async with client(build(readiness=readiness)) as http:
        assert 'rlaif_common_check_ok{check="nats"} 1.0' in (await http.get("/metrics")).text
        trouble["nats"] = "lost"
        assert 'rlaif_common_check_ok{check="nats"} 0.0' in (await http.get("/metrics")).text


async def test_version_names_service_package_schemas_and_events(build, client):
    async with client(build()) as http:
        answer = (await http.get("/version")).json()
    assert answer["service"] == "common"
    assert answer["version"].count(".") == 2
    assert answer["schemas"] == {"segment_manifest": 1}
    assert "rlaif.segment.scored.v1" in answer["events"]


async def test_metrics_count_requests_by_route_and_not_by_id(build, client, router):
    async with client(build(router)) as http:
        for id in (1, 2, 3):
            await http.get(f"/api/v1/things/{id}")
        await http.get("/nothing/here")
        answer = await http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.text
    name = "rlaif_common_http_requests_total"
    assert f'{name}{{method="GET",route="/api/v1/things/{{id}}",status="200"}} 3.0' in text
    assert f'{name}{{method="GET",route="unmatched",status="404"}} 1.0' in text
    assert "rlaif_common_http_request_seconds_bucket" in text


async def test_a_trace_is_continued_and_returned(build, client, router):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    async with client(build(router)) as http:
        given = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        answer = await http.get("/api/v1/things/1", headers=given)
        assert answer.json() == {"trace_id": trace}
        version, returned, span, flags = answer.headers["traceparent"].split("-")
        assert (version, returned, flags) == ("00", trace, "01")
        assert span != "00f067aa0ba902b7"
        for broken in ("", "x", f"00-{'0' * 32}-00f067aa0ba902b7-01"):
            answer = await http.get("/livez", headers={"traceparent": broken})
            assert len(answer.headers["traceparent"].split("-")[1]) == 32
            assert answer.headers["traceparent"].split("-")[1] != "0" * 32
    assert current_trace_id() is None


async def test_a_write_or_a_failure_is_one_log_line_and_a_read_is_none(
    build, client, router, caplog
):
    caplog.set_level(logging.INFO, "rlaif.service.access")
    async with client(build(router)) as http:
        for path in ("/livez", "/readyz", "/metrics", "/api/v1/things/7", "/api/v1/none"):
            await http.get(path)
        await http.post("/api/v1/things/7")
    lines = [r for r in caplog.records if r.name == "rlaif.service.access"]
    assert [r.getMessage() for r in lines] == ["POST /api/v1/things/7 405"]


async def test_a_bug_is_a_problem_without_its_cause_and_is_logged_once(
    build, client, router, caplog
):
    async with client(build(router)) as http:
        answer = await http.get("/api/v1/broken")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["type"] == "/problems/internal-error"
    assert body["trace_id"] == answer.headers["traceparent"].split("-")[1]
    assert "secret" not in answer.text
    failures = [r for r in caplog.records if r.exc_info]
    assert len(failures) == 1
    assert "the secret cause" in str(failures[0].exc_info)


async def test_the_interface_is_documented_without_outside_assets(build, client, router):
    async with client(build(router)) as http:
        page = (await http.get("/docs")).text
        document = (await http.get("/openapi.json")).json()
        links = _links(page)
        answers = [await http.get(f"/{link}") for link in links]
        counted = (await http.get("/metrics")).text
    assert "A &lt;service&gt;" in page
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(link.rsplit(".", 1)[-1] for link in links) == ["css", "js", "png"]
    assert "swagger-ui-bundle" not in counted
    assert "url: 'openapi.json'" in page
    assert "//" not in page.replace("// ", "")
    OpenAPI.model_validate(document)
    responses = document["paths"]["/api/v1/things/{id}"]["get"]["responses"]
    assert set(responses) == {"200", "default"}
    assert "$ref" not in str(responses["default"])
    assert "application/problem+json" in responses["default"]["content"]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert document["paths"]["/api/v1/things"]["post"]["security"] == [{}, {"token": []}]
    assert "security" not in document["paths"]["/api/v1/things/{id}"]["get"]


def _links(page: str) -> list[str]:
    links: list[str] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            links.extend(v for k, v in attrs if k in ("href", "src") and v)

    Links().feed(page)
    return links


async def test_head_is_answered_as_get_without_a_body(build, client, router) -> None:
    async with client(build(router)) as http:
        for path in ("/version", "/api/v1/things/3", "/docs"):
            got, head = await http.get(path), await http.head(path)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == got.headers["content-length"]
        assert (await http.head("/api/v1/broken")).status_code == 500
        assert (await http.head("/missing")).status_code == 404


async def test_head_of_an_endless_stream_ends(build, client) -> None:
    endless = APIRouter()

    @endless.get("/stream")
    async def stream() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b"x"

        return StreamingResponse(parts())

    async with client(build(endless)) as http:
        answer = await http.head("/stream")
        assert (answer.status_code, answer.content) == (200, b"")


async def test_the_kind_of_a_problem_has_a_page(build, client, router) -> None:
    async with client(build(router)) as http:
        kind = (await http.get("/api/v1/broken")).json()["type"]
        page = await http.get(kind)
        assert page.status_code == 200
        assert "trace id" in page.text
        assert (await http.get("/problems/<script>-not-found")).text.count("<script>") == 0
        assert (await http.get("/problems/nothing-of-this-name")).status_code == 404
