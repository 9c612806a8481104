import pytest
from fastapi import APIRouter, FastAPI
from starlette.types import Message, Receive, Scope, Send

from rlaif.network.addresses import host_of
from rlaif.service.auth import SAFE_METHODS, WriteGuard

WRITES = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def router() -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    async def things(id: str) -> str:
        return "done"

    for method in ("GET", *WRITES):
        router.add_api_route(
            "/things/{id}", things, methods=[method], operation_id=f"{method}-things"
        )

    @router.post("/runs")
    async def runs() -> str:
        return "done"

    return router


def _writes(app: FastAPI) -> set[tuple[str, str]]:
    """Every (method, path) of the app that is not a read."""
    paths = app.openapi()["paths"]
    found = {(method.upper(), path) for path in paths for method in paths[path]}
    return {(method, path) for method, path in found if method not in SAFE_METHODS}


async def test_every_write_of_every_route_needs_the_token(build, client, router):
    app = build(router, api_token="right")
    found = _writes(app)
    assert len(found) == len(WRITES) + 1
    async with client(app) as http:
        for method, path in found | {("POST", "/no/such/route"), ("PURGE", "/livez")}:
            answer = await http.request(method, path)
            assert answer.status_code == 401, (method, path)
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["type"] == "/problems/token-missing"
            assert "traceparent" in answer.headers


@pytest.mark.parametrize(
    ("header", "status", "type"),
    [
        ("Bearer right", 200, None),
        ("bearer right", 200, None),
        ("Bearer wrong", 401, "/problems/token-wrong"),
        ("Bearer rightx", 401, "/problems/token-wrong"),
        ("Bearer ünï", 401, "/problems/token-wrong"),
        ("Bearer ", 401, "/problems/token-missing"),
        ("Basic right", 401, "/problems/token-missing"),
        ("right", 401, "/problems/token-missing"),
    ],
)
async def test_only_the_right_bearer_token_is_admitted(build, client, router, header, status, type):
    async with client(build(router, api_token="right", host="0.0.0.0")) as http:
        answer = await http.post("/api/v1/runs", headers={b"Authorization": header.encode()})
    assert answer.status_code == status
    assert type is None or answer.json()["type"] == type
    assert "right" not in answer.text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "judge.example"])
async def test_without_a_token_a_service_on_the_network_refuses_writes(build, client, router, host):
    async with client(build(router, host=host)) as http:
        answer = await http.post("/api/v1/runs")
        assert answer.status_code == 403
        assert answer.json()["type"] == "/problems/writes-disabled"
        assert "RLAIF_API_TOKEN" in answer.json()["detail"]
        assert (await http.get("/api/v1/things/1")).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:8086", 200),
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        ("http://127.0.0.1:8086", 403),
        ("https://site.example", 403),
        ("http://localhost.site.example:8086", 403),
        ("null", 403),
        ("http://[::1", 403),
        ("http://[nonsense]", 403),
    ],
)
async def test_without_a_token_a_laptop_takes_writes_from_its_own_page_only(
    build, client, router, origin, status
):
    headers = {"Host": "localhost:8086"} | ({} if origin is None else {"Origin": origin})
    async with client(build(router)) as http:
        answer = await http.post("/api/v1/runs", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["type"] == "/problems/foreign-origin"


OWN_HOSTS = ["localhost:8086", "127.0.0.1:8086", "[::1]:8086", "10.0.0.5:8086", "hud", "LOCALHOST."]
OWN_HOSTS += ["hud.rlaif.svc", "hud.rlaif.svc.cluster.local:8086", "host.containers.internal"]
FOREIGN_HOSTS = ["evil.example", "evil.example:8086", "localhost.evil.example", "127.0.0.1.evil.io"]
FOREIGN_HOSTS += ["", "[::1", "evil.example."]


@pytest.mark.parametrize("host", [*OWN_HOSTS, *FOREIGN_HOSTS])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_requests_are_for_a_name_of_the_machine_or_cluster(
    build, client, router, host, method
):
    async with client(build(router)) as http:
        answer = await http.request(method, "/api/v1/things/1", headers={"Host": host})
    assert answer.status_code == (200 if host in OWN_HOSTS else 421)
    if host in FOREIGN_HOSTS:
        assert answer.json()["type"] == "/problems/unknown-host"
        assert "HUD_ALLOWED_ORIGINS" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("public", "host", "status"),
    [
        ({"hud.example.org"}, "hud.example.org", 200),
        ({"hud.example.org"}, "HUD.example.org:443", 200),
        ({"hud.example.org"}, "hud.example.org.evil.example", 421),
        ({"*"}, "page-of-a-route.example.org", 200),
    ],
)
async def test_a_service_has_its_public_names_too(router, client, build, public, host, status):
    async with client(build(router, public_hosts=public)) as http:
        answer = await http.get("/livez", headers={"Host": host})
    assert answer.status_code == status


def test_an_origin_of_any_host_stands_for_every_name():
    """As deploy/base sets it: the router of a cluster makes the name of the page's Route."""
    assert host_of("https://*") == "*"


async def test_a_browser_guesses_no_content_type(build, client, router):
    async with client(build(router)) as http:
        for path in ("/api/v1/things/1", "/no/such/route"):
            assert (await http.get(path)).headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
async def test_what_is_not_http_passes_the_guard(kind: str) -> None:
    passed: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["type"])

    async def receive() -> Message:
        raise AssertionError("the guard must not listen")

    async def send(message: Message) -> None:
        raise AssertionError("the guard must not answer")

    guard = WriteGuard(app, token="right", host="0.0.0.0")
    await guard({"type": kind, "headers": []}, receive, send)
    assert passed == [kind]
