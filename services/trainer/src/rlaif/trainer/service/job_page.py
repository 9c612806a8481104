"""What `rlaif-train` shows of its run over HTTP: the service's /metrics and /readyz, without REST.

A job on a cluster has no service beside it that would be scraped in its place.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rlaif.service.cli import bind
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.settings import TrainerSettings


@asynccontextmanager
async def job_page(
    settings: TrainerSettings, readiness: Readiness, metrics: ServiceMetrics
) -> AsyncIterator[None]:
    """Serve it at `metrics_port`, if one is set, while the context is open.

    Raises:
        StartupError: The port is taken.
    """
    if not settings.metrics_port:
        yield
        return
    # Here, so that a command that shows nothing loads no web server.
    from rlaif.service.app import build_app
    from rlaif.service.beside import serving

    app = build_app(
        name="trainer",
        title="Zelda RLAIF training job",
        settings=settings,
        lifespan=None,
        routers=[],
        readiness=readiness,
        metrics=metrics,
    )
    with bind(settings, "metrics_port") as listener:
        async with serving(app, listener):
            yield
