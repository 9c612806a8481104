"""Exporters on a real NATS and a real S3, and captures for them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from rlaif.exporter.app import create_app
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.replay_check.segments import Play
from rlaif.testing.data.captures import write_capture
from rlaif.testing.data.random_play import recorded_play
from rlaif.testing.waiting import eventually


@pytest.fixture(scope="session")
def recorded():
    """Three segments of 300 frames."""
    return recorded_play(Play(segments=3, seed=9))


@pytest.fixture
def captured(episodes_store, recorded):
    """Stores a capture as the trainer does, with changes; gives its event."""

    def put(index=0, **changes):
        capture = recorded[index].capture.model_copy(update=changes)
        return write_capture(episodes_store, capture, recorded[index].keyframe.data)

    return put


@pytest.fixture
def settings(nats_url, s3):
    return ExporterSettings(
        nats_url=nats_url,
        s3_endpoint_url=s3.endpoint_url,
        s3_access_key=s3.access_key,
        s3_secret_key=s3.secret_key,
        ack_wait_seconds=2,
    )


@asynccontextmanager
async def running(settings: ExporterSettings) -> AsyncIterator[httpx.AsyncClient]:
    """An exporter inside this process, with a client of its REST interface."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://exporter") as client,
    ):
        yield client


async def ready(client: httpx.AsyncClient) -> bool:
    return (await client.get("/readyz")).status_code == 200


@pytest.fixture
async def start_exporter(bus, settings):
    """Starts an exporter and waits until it is ready."""
    async with AsyncExitStack() as stack:

        async def start(**changes) -> httpx.AsyncClient:
            changed = settings.model_copy(update=changes)
            client = await stack.enter_async_context(running(changed))
            await eventually(lambda: ready(client), "the exporter is ready")
            return client

        yield start


@pytest.fixture
def start_unready(settings):
    """Starts an exporter with other settings and waits for nothing."""

    def start(**changes):
        return running(settings.model_copy(update=changes))

    return start
