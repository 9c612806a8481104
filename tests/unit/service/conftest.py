from collections.abc import Callable

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.settings import ServiceSettings


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RLAIF_API_TOKEN", "NATS_URL", "LOG_LEVEL", "LOG_FORMAT", "S3_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def build() -> Callable[..., FastAPI]:
    """Makes an app of some routers; further arguments are settings."""

    def make(
        *routers: APIRouter,
        readiness: Readiness | None = None,
        public_hosts: frozenset[str] = frozenset(),
        **settings: object,
    ) -> FastAPI:
        return build_app(
            name="common",
            title="A <service>",
            settings=ServiceSettings.model_validate(settings),
            lifespan=None,
            routers=routers,
            readiness=readiness or Readiness(),
            metrics=ServiceMetrics("common"),
            writes={"segment_manifest": SegmentManifest},
            public_hosts=public_hosts,
        )

    return make


@pytest.fixture
def client() -> Callable[[FastAPI], httpx.AsyncClient]:
    """Makes a client that talks to an app without a socket."""

    def make(app: FastAPI) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app)
        return httpx.AsyncClient(transport=transport, base_url="http://service")

    return make
