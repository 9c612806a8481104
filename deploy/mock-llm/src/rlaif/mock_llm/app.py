"""The stand-in as a web app."""

from fastapi import FastAPI

from rlaif.mock_llm.api import StandIn, build_router
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics


def create_app(settings: MockLlmSettings) -> FastAPI:
    """Build the app; it needs nothing else to be ready."""
    metrics = ServiceMetrics("mock-llm")
    return build_app(
        name="mock-llm",
        title="Stand-in for the language model routes",
        settings=settings,
        lifespan=None,
        routers=[build_router(StandIn(settings, metrics))],
        readiness=Readiness(),
        metrics=metrics,
    )
