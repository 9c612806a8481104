"""TLS to NATS with an authority of one's own, and never without TLS once it was asked for."""

import asyncio
from datetime import timedelta

import pytest

from rlaif.bus.connection import connect
from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.servers.certificates import Certificate, make_certificate
from rlaif.testing.servers.nats_server import NatsServer

SOON = timedelta(seconds=1)
USER = "authorization { user: service, password: service }\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server(tmp_path, certificate):
    """A server that asks for TLS, with a certificate of our own authority."""
    files = f'cert_file: "{certificate.file}", key_file: "{certificate.key_file}"'
    found = NatsServer(tmp_path, more=f"{USER}tls {{ {files} }}")
    found.start()
    yield found
    found.stop()


def over_tls(server):
    return server.url_of("service").replace("nats://", "tls://")


async def test_a_server_of_our_own_authority_is_believed(server, certificate):
    bus = await connect(over_tls(server), name="test", ca_file=str(certificate.ca_file))
    try:
        await bus.ensure_topology()
        assert await bus.publisher("trainer").publish(segment_captured())
        assert await bus.backlog(SegmentCaptured, "exporter") in (0, 1)
    finally:
        await bus.close()


async def test_it_reconnects_over_tls(server, certificate):
    bus = await connect(over_tls(server), name="test", ca_file=str(certificate.ca_file))
    try:
        await asyncio.to_thread(server.restart)
        assert await bus.wait_connected(20)
        await bus.ensure_topology()
    finally:
        await bus.close()


async def test_an_untrusted_server_gets_no_credentials(server):
    with pytest.raises(BusUnavailableError, match="certificate verify failed"):
        await connect(over_tls(server), name="test", timeout=SOON)


@pytest.mark.parametrize("scheme", ["tls", "nats"])
async def test_a_server_without_tls_gets_no_password(tmp_path, certificate, scheme):
    server = NatsServer(tmp_path, more=USER)
    await asyncio.to_thread(server.start)
    try:
        url = server.url_of("service").replace("nats://", f"{scheme}://")
        with pytest.raises(BusUnavailableError, match="offers no TLS"):
            await connect(url, name="test", timeout=SOON, ca_file=str(certificate.ca_file))
    finally:
        server.stop()


async def test_a_file_that_holds_no_authority_is_named(server, tmp_path):
    for path in (tmp_path / "missing.pem", tmp_path / "nats.conf"):
        with pytest.raises(BusUnavailableError, match=f"NATS_CA_FILE={path}"):
            await connect(over_tls(server), name="test", timeout=SOON, ca_file=str(path))
