"""Servers that differ in address, model names and parameters: each is used without a setting."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response

from rlaif.llm.addresses import proxy_of, routed
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import (
    Answer,
    ClientSetupError,
    CompletionRequest,
    RefusedError,
    UnavailableError,
)
from rlaif.llm.settings import CallSettings
from rlaif.testing.servers.http_server import serve

GOOD = '{"mark":2}'
CALLS = CallSettings(connect_seconds=1.0, total_seconds=5.0)
REQUEST = CompletionRequest(
    model="qwen25-7b",
    messages=({"role": "user", "content": "Was it pressed?"},),
    schema_name="mark",
    schema={"type": "object", "properties": {"mark": {"enum": [0, 1, 2]}}},
    seed=1,
    temperature=0.4,
    max_tokens=64,
)


@dataclass
class Server:
    """A server that answers at `path` and refuses as `refuses` says: (status, text) or None.

    It lists its `models`, or those that are `listed`; without any, it has no list.
    """

    models: tuple[str, ...] = ("qwen25-7b",)
    listed: tuple[str, ...] | None = None
    path: str = "/v1"
    query: str = ""
    refuses: Callable[[dict[str, Any]], tuple[int, str] | None] = lambda body: None
    elsewhere: int = 404
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/{path:path}")
        async def models(path: str, request: Request) -> Response:
            names = self.models if self.listed is None else self.listed
            if f"/{path}" != f"{self.path}/models" or not names:
                return Response(status_code=404)
            data = [{"id": name, "object": "model"} for name in names]
            return Response(json.dumps({"object": "list", "data": data}))

        @app.post("/{path:path}")
        async def complete(path: str, request: Request) -> Response:
            if f"/{path}" != f"{self.path}/chat/completions" or request.url.query != self.query:
                said = '{"error": "Unexpected endpoint or method. Returning 200 anyway"}'
                return Response(said if self.elsewhere == 200 else "no", self.elsewhere)
            body = json.loads(await request.body())
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
            if body["model"] not in self.models:
                return Response(f"The model `{body['model']}` does not exist", 404)
            if refusal := self.refuses(body):
                return Response(refusal[1], refusal[0])
            choice = {"message": {"content": GOOD}, "finish_reason": "stop"}
            return Response(json.dumps({"choices": [choice]}))

        return app


@asynccontextmanager
async def model_of(
    server: Server, base: str = "/v1", route: str = "/dialog"
) -> AsyncIterator[OpenAiModel]:
    """A route below the address of a server that a user gave."""
    async with serve(server.app()) as url, connections_to(CALLS, api_key="key") as connections:
        address, fallback = routed(url + base, route)
        yield OpenAiModel(connections, address, CALLS, base=fallback)


async def _asked(server: Server, base: str = "/v1", route: str = "/dialog") -> Answer:
    async with model_of(server, base, route) as model:
        return await model.complete(REQUEST)


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("elsewhere", [404, 405, 200])
async def test_one_server_is_found_by_its_address_though_it_has_no_routes(base, elsewhere):
    server = Server(models=("SmolLM2",), elsewhere=elsewhere)
    answer = await _asked(server, base)
    assert (answer.text, answer.model) == (GOOD, "SmolLM2")
    assert [body["model"] for body in server.bodies[-1:]] == ["SmolLM2"]


@pytest.mark.parametrize("base", ["", "/v1"])
async def test_a_route_that_exists_is_used(base: str) -> None:
    server = Server(path="/dialog/v1")
    assert (await _asked(server, base)).text == GOOD
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1beta/openai", ""),
        ("/api/v3", ""),
        ("/openai/deployments/x", "api-version=2024-10-21"),
    ],
)
async def test_an_address_with_another_version_or_a_query_is_the_server_itself(path, query):
    server = Server(path=path, query=query)
    assert (await _asked(server, f"{path}?{query}" if query else f"{path}/")).text == GOOD
    assert ("api-key" in server.headers[0]) == ("deployments" in path)


async def test_of_several_models_the_configured_one_is_taken() -> None:
    server = Server(models=("other", "qwen25-7b"))
    answer = await _asked(server)
    assert (answer.text, answer.model) == (GOOD, None)
    assert server.bodies[-1]["model"] == "qwen25-7b"


@pytest.mark.parametrize("listed", [(), ("gpt-4o", "gpt-4.1")])
@pytest.mark.parametrize("elsewhere", [404, 200])
async def test_a_model_that_the_server_does_not_list_is_asked_for_at_its_base(listed, elsewhere):
    """Azure lists models and takes deployments; Anthropic lists them for another header only."""
    answer = await _asked(Server(listed=listed, elsewhere=elsewhere))
    assert (answer.text, answer.model) == (GOOD, None)


async def test_several_models_without_the_configured_one_are_listed() -> None:
    with pytest.raises(RefusedError, match=r"qwen25-7b is not one of its 2 models: llama, gemma"):
        await _asked(Server(models=("llama", "gemma")))


def _openai_o(body: dict[str, Any]) -> tuple[int, str] | None:
    if "max_tokens" in body:
        return 400, (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
    if "temperature" in body:
        return 400, "Unsupported value: 'temperature' does not support 0.4. Only 1 is supported."
    return None


def _mistral(body: dict[str, Any]) -> tuple[int, str] | None:
    if "seed" in body:
        detail = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}
        return 422, json.dumps({"detail": [detail]})
    return None


def _no_schema(body: dict[str, Any]) -> tuple[int, str] | None:
    if body.get("response_format", {}).get("type") == "json_schema":
        return 400, "response_format type 'json_schema' is unavailable now"
    return None


def _no_format(body: dict[str, Any]) -> tuple[int, str] | None:
    return (400, "Unknown field: response_format") if "response_format" in body else None


@pytest.mark.parametrize("refuses", [_openai_o, _mistral, _no_schema, _no_format])
async def test_a_parameter_that_is_refused_is_left_out_remembered_and_logged_once(refuses, caplog):
    caplog.set_level(logging.INFO, "rlaif.llm")
    server = Server(path="/dialog/v1", refuses=refuses)
    async with model_of(server) as model:
        assert (await model.complete(REQUEST)).text == GOOD
        calls = len(server.bodies)
        assert (await model.complete(REQUEST)).text == GOOD
    assert len(server.bodies) == calls + 1
    assert len(caplog.records) == 1


async def test_a_refusal_that_no_change_helps_is_reported_and_nothing_is_remembered() -> None:
    def never(body: dict[str, Any]) -> tuple[int, str]:
        return 400, "the prompt is too long: temperature, seed and schema included"

    server = Server(path="/dialog/v1", refuses=never)
    async with model_of(server) as model:
        with pytest.raises(RefusedError, match="too long"):
            await model.complete(REQUEST)
        server.refuses = lambda body: None
        await model.complete(REQUEST)
    assert server.bodies[-1]["temperature"] == REQUEST.temperature


PROXY = "http://127.0.0.1:9"
NO_PROXY = "fe80::/10,10.0.0.0/8,.corp"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", [PROXY, "socks5://127.0.0.1:9"])
@pytest.mark.parametrize("no_proxy", ["", NO_PROXY])
async def test_own_addresses_use_no_proxy(monkeypatch, variable, proxy, no_proxy):
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (await _asked(Server())).text == GOOD
    for own in ("http://localhost:1", "http://[::1]:1", "http://127.0.0.2:1", "http://0.0.0.0:1"):
        assert proxy_of(own) is None


@pytest.mark.parametrize("host", ["10.1.2.3", "[fe80::1]", "llm.corp"])
def test_what_no_proxy_names_uses_none(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", NO_PROXY)
    assert proxy_of(f"https://{host}/v1") is None
    assert proxy_of("https://llm.example.org/v1") == ("HTTPS_PROXY", PROXY)


async def test_a_remote_server_is_reached_by_the_proxy_which_is_named_when_it_is_dead(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    url = "http://llm.example.org/v1"
    async with connections_to(CALLS, api_key=None, urls=[url]) as connections:
        with pytest.raises(UnavailableError, match="via the proxy of HTTP_PROXY"):
            await OpenAiModel(connections, url, CALLS).complete(REQUEST)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTPS_PROXY", "socks5://user:hunter2@proxy:1080"),
        ("HTTPS_PROXY", "ftp://user:hunter2@proxy"),
        ("ALL_PROXY", "http://user:hunter2@proxy:port"),
        ("SSL_CERT_FILE", "/nowhere/hunter2.pem"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named_in_one_sentence_without_its_password(
    monkeypatch, variable, value
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ClientSetupError, match=variable) as raised:
        connections_to(CALLS, api_key=None, urls=["https://llm.example.org"])
    assert "hunter2" not in str(raised.value).replace(value, "") or variable == "SSL_CERT_FILE"
