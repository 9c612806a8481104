"""The exporter as a web app with a worker beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from fastapi import FastAPI

from rlaif.exporter.adapters.emulators import EmulatorPool
from rlaif.exporter.api import build_router
from rlaif.exporter.consumers import ExportRules
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.runtime import Runtime
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.service.app import build_app
from rlaif.service.cli import StartupError
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.ports import ObjectStore


def create_app(settings: ExporterSettings, *, store: ObjectStore | None = None) -> FastAPI:
    """Build the service; its lifespan starts the worker last and stops it first.

    Args:
        settings: The exporter's settings.
        store: Replaces the store of the settings, in tests.

    Raises:
        StartupError: The ROM cannot be used.
    """
    rules = export_rules(settings)
    emulators = emulator_pool(rules.cartridge)
    metrics, readiness = ServiceMetrics("exporter"), Readiness()
    runtime = Runtime(
        settings,
        rules,
        emulators,
        ExporterMetrics(metrics),
        metrics.worker_observer(),
        store=store,
    )
    runtime.lifecycle.add_checks(readiness)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with runtime.lifecycle.running(readiness):
                yield
        finally:
            emulators.close()

    return build_app(
        name="exporter",
        title="Exporter: replays captured segments and writes what judges read",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(runtime.store, runtime.dead_segments)],
        readiness=readiness,
        metrics=metrics,
    )


def export_rules(settings: ExporterSettings) -> ExportRules:
    """How segments are exported, from the settings.

    Raises:
        StartupError: The ROM cannot be used.
    """
    try:
        cartridge = load_cartridge(settings.rom_path)
    except CartridgeError as error:
        raise StartupError(f"{error} (EXPORTER_ROM_PATH)") from error
    return ExportRules(
        cartridge=cartridge,
        png_interval_frames=settings.png_interval_frames,
        max_replay_frames=settings.max_replay_frames,
        exporter_version=_installed_version(),
    )


def emulator_pool(cartridge: Cartridge) -> EmulatorPool:
    """Emulators that play `cartridge`; none is started yet."""
    return EmulatorPool(lambda sound: PyBoyEmulator(cartridge.data, sound_emulated=sound))


def _installed_version() -> str:
    try:
        return version("rlaif-exporter")
    except PackageNotFoundError:
        return "not installed"
