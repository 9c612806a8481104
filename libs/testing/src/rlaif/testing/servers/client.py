"""A client of routes in the process of the test."""

import httpx
from fastapi import APIRouter, FastAPI

from rlaif.service.problems import install_problem_handlers


def app_of(*routers: APIRouter) -> FastAPI:
    """Return an app with these routes, which answers errors as problem documents."""
    app = FastAPI()
    install_problem_handlers(app)
    for router in routers:
        app.include_router(router)
    return app


def client_of(*routers: APIRouter, prefix: str = "") -> httpx.AsyncClient:
    """A client of `app_of` these routes; its paths are below `prefix`."""
    transport = httpx.ASGITransport(app_of(*routers))
    return httpx.AsyncClient(transport=transport, base_url=f"http://service{prefix}")
