"""Requests to our own services and servers never go through a proxy of the user's environment."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "libs/common/src/rlaif/llm/openai.py": "language models, which may be outside",
    "deploy/containers/check_models.py": "the same",
}
"""Files that talk to addresses which are not ours."""

SOURCES = sorted(
    path
    for pattern in ("*/*/src", "benchmarks", "docs", "deploy/containers")
    for folder in ROOT.glob(pattern)
    for path in folder.rglob("*.py")
    if str(path.relative_to(ROOT)) not in OUTSIDE
)
MANIFESTS = sorted(
    [
        ROOT / "docker-compose.yml",
        *(ROOT / "deploy").rglob("*.yaml"),
        *(ROOT / "deploy").rglob("*.yml"),
    ]
)

CLIENTS = {
    "httpx": {
        "AsyncClient",
        "Client",
        "request",
        "stream",
        "get",
        "post",
        "put",
        "patch",
        "delete",
    },
    "urllib.request": {"urlopen", "urlretrieve"},
    "requests": {"Session", "request", "get", "post", "put", "patch", "delete"},
    "aiohttp": {"ClientSession", "request"},
    "urllib3": {"PoolManager", "ProxyManager", "request"},
    "websockets.asyncio.client": {"connect"},
}
DIRECT = {("trust_env", False), ("proxy", None)}
"""Keyword and value by which a client leaves the environment alone."""


def clients_with_proxies(source: str) -> Iterator[int]:
    """Lines that make an HTTP client which would ask the environment for proxies."""
    tree = ast.parse(source)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {each.asname or each.name: each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        first, _, rest = called.partition(".")
        whole = known.get(called) or ".".join(filter(None, (known.get(first, first), rest)))
        module, _, name = whole.rpartition(".")
        given = {
            (each.arg, each.value.value)
            for each in node.keywords
            if isinstance(each.value, ast.Constant)
        }
        mocked = any(
            each.arg == "transport" and not isinstance(each.value, ast.Constant)
            for each in node.keywords
        )
        if name in CLIENTS.get(module, ()) and not given & DIRECT and not mocked:
            yield node.lineno


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_client_of_an_own_address_asks_for_proxies(path):
    assert list(clients_with_proxies(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "import httpx\nhttpx.AsyncClient(timeout=2.0)",
        "import httpx as web\nweb.get('http://127.0.0.1')",
        "from httpx import Client\nClient(trust_env=True)",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')",
        "from urllib import request\nrequest.urlopen('http://127.0.0.1')",
        "from websockets.asyncio.client import connect\nconnect('ws://127.0.0.1')",
    ],
)
def test_the_check_finds_one(source):
    assert list(clients_with_proxies(source)) == [2]


@pytest.mark.parametrize(
    "source",
    [
        "import httpx\nhttpx.AsyncClient(trust_env=False)",
        "import httpx\nhttpx.AsyncClient(transport=httpx.MockTransport(answer))",
        "import httpx\nfound = client.get('/x')",
        "from websockets.asyncio.client import connect\nconnect('ws://127.0.0.1', proxy=None)",
    ],
)
def test_the_check_lets_a_direct_one_pass(source):
    assert list(clients_with_proxies(source)) == []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_health_check_of_a_container_asks_for_proxies(path):
    """Container engines and platforms hand their proxies on to every container."""
    for line in path.read_text().splitlines():
        assert "urlopen" not in line
        if re.search(r"(test: |command: ).*\bwget\b", line):
            assert re.search(r"wget(, -Y, 'off'| -Y off)", line), line
