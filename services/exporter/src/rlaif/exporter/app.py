"""The exporter as a web app with a worker beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from fastapi import FastAPI

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.exporter.api import build_router
from rlaif.exporter.consumers import ExportRules
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.runtime import Runtime
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.service.app import build_app
from rlaif.service.cli import StartupError
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.ports import ObjectStore


def create_app(settings: ExporterSettings, *, store: ObjectStore | None = None) -> FastAPI:
    """Build the service, else StartupError; its lifespan starts the worker last, stops it first."""
    try:
        cartridge = load_cartridge(settings.rom_path)
    except CartridgeError as error:
        raise StartupError(f"{error} (EXPORTER_ROM_PATH)") from error
    metrics, readiness = ServiceMetrics("exporter"), Readiness()
    runtime = Runtime(
        settings,
        ExportRules(settings.replay.max_frames, _installed_version()),
        cartridge,
        ExporterMetrics(metrics),
        metrics.worker_observer(),
        store=store,
    )
    runtime.lifecycle.add_checks(readiness)
    readiness.add("replays", runtime.replayers.check)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with runtime.lifecycle.running(readiness):
            yield

    return build_app(
        name="exporter",
        title="Exporter: replays captured segments and writes what judges read",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(lambda: runtime.lifecycle.store, runtime.dead_segments)],
        readiness=readiness,
        metrics=metrics,
        writes={"segment_manifest": SegmentManifest},
    )


def _installed_version() -> str:
    try:
        return version("rlaif-exporter")
    except PackageNotFoundError:
        return "not installed"
