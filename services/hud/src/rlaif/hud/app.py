"""The application of the HUD."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware

from rlaif.bus.connection import open_bus
from rlaif.hud.broadcast import Broadcast, HudMetrics
from rlaif.hud.browsers.compression import WebSocketProtocol
from rlaif.hud.browsers.hub import Hub
from rlaif.hud.browsers.live import live_router
from rlaif.hud.connections import BusLink, read_scores
from rlaif.hud.page import ForwardedPrefix, MissingPages, build_of, mount_files, page_router
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.models import models_router
from rlaif.hud.routes.segments import segments_router
from rlaif.hud.routes.state import api_router, history_router, llm_router
from rlaif.hud.routes.system import system_router
from rlaif.hud.routes.world import world_router
from rlaif.hud.settings import HudSettings
from rlaif.hud.upstream import Upstream
from rlaif.network.addresses import host_of
from rlaif.service.app import build_app
from rlaif.service.background import BackgroundTasks
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore
from rlaif.storage.watched import WatchedStore

MIN_COMPRESSED = 1024
"""Bytes; a smaller response fits into one packet."""

TICK_SECONDS = 0.1
"""Interval of checks and of events to the pages; `broadcast.SECTIONS_SECONDS` for sections."""

_TAKEOVER = timedelta(seconds=10)
"""Time without frames or reports after which another environment is shown."""


def utc_now() -> datetime:
    """The current time."""
    return datetime.now(UTC)


def create_app(settings: HudSettings, *, store: ObjectStore | None = None) -> FastAPI:
    """Build the HUD; nothing is opened before the app starts. `store` replaces that of settings."""
    clock, build = utc_now, build_of()
    started = clock()
    state = HudState(
        epoch=f"{started:%Y%m%dT%H%M%S.%f}",
        takeover=_TAKEOVER,
        started_at=started,
        build=build,
    )
    hub = Hub(lambda: state.snapshot(clock()), max_clients=settings.max_clients)
    service_metrics, readiness = ServiceMetrics("hud"), Readiness()
    metrics = HudMetrics(service_metrics, hub)
    broadcast = Broadcast(state, hub, clock=clock, metrics=metrics)
    objects = WatchedStore(store or open_store(settings.episodes_store, S3Credentials.of(settings)))
    bus = BusLink(lambda: open_bus(settings, name="hud"), broadcast)
    checks = {"bus": bus.check, "store": objects.check, "page": broadcast.check}
    tasks = BackgroundTasks(
        {
            "scores": lambda: read_scores(objects, state),
            "page": lambda: _send_changes(broadcast, checks),
            "store": objects.run,
            "bus": bus.run,
        }
    )
    checks["tasks"] = tasks.check
    for name, check in checks.items():
        readiness.add(name, check)
    app = build_app(
        name="hud",
        title="Zelda RLAIF HUD",
        settings=settings,
        lifespan=_lifespan(hub, tasks),
        routers=[
            page_router(build),
            api_router(state, clock),
            models_router(state, Upstream("reward-model", settings.reward_model_url)),
            history_router(state, bus.bus),
            world_router(broadcast, objects),
            segments_router(state, objects, room_name=state.world.name),
            system_router(bus.bus, broadcast, clock),
            llm_router(state, Upstream("judge", settings.judge_url)),
            live_router(hub, metrics.refused, settings.allowed_origins, clock),
        ],
        readiness=readiness,
        metrics=service_metrics,
        public_hosts={host_of(origin) for origin in settings.allowed_origins},
    )
    app.state.websocket_protocol = WebSocketProtocol
    mount_files(app, build)
    app.add_middleware(MissingPages, build=build)
    app.add_middleware(ForwardedPrefix)
    app.add_middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED, compresslevel=5)
    return app


def _lifespan(
    hub: Hub, tasks: BackgroundTasks
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Run the tasks while the app runs; disconnect the pages first when it stops."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with tasks.running():
            try:
                yield
            finally:
                hub.close()

    return lifespan


async def _send_changes(broadcast: Broadcast, checks: dict[str, Callable[[], str | None]]) -> None:
    seconds = asyncio.get_running_loop().time
    while True:
        broadcast.health({name: check() for name, check in checks.items()})
        broadcast.tick(seconds())
        await asyncio.sleep(TICK_SECONDS)
