"""Clients of our own services in the environments of other people."""

import ssl

import pytest
from fastapi import FastAPI

from rlaif.service import peers
from rlaif.service.peers import peer_client
from rlaif.testing.servers.http_server import serve

HOSTILE = {
    "HTTP_PROXY": {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"},
    "SOCKS": {"ALL_PROXY": "socks5://127.0.0.1:9", "all_proxy": "socks5://127.0.0.1:9"},
    "IPv6 net": {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost,fe80::/10,::1"},
    "no URL": {"HTTP_PROXY": "proxy.example:port", "HTTPS_PROXY": "://"},
    "stale authorities": {"SSL_CERT_FILE": "/no/such/file.pem", "SSL_CERT_DIR": "/no/such/folder"},
    "key log": {"SSLKEYLOGFILE": "/no/such/folder/keys"},
}


@pytest.mark.parametrize("environment", HOSTILE.values(), ids=HOSTILE)
async def test_a_peer_is_asked_directly(environment, monkeypatch):
    app = FastAPI()

    @app.get("/livez")
    def livez() -> str:
        return "ok"

    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    async with serve(app) as url, peer_client(url) as client:
        assert (await client.get(f"{url}/livez")).status_code == 200


async def test_a_file_of_authorities_that_is_gone_leaves_the_public_ones(monkeypatch):
    peers._authorities.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    async with peer_client("https://judge:8083"):
        context = peers._authorities()
    peers._authorities.cache_clear()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.cert_store_stats()["x509_ca"] > 0
