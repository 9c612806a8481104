"""A client of routes inside the test's own process."""

import httpx
from fastapi import APIRouter, FastAPI

from rlaif.service.problems import install_problem_handlers


def client_of(*routers: APIRouter) -> httpx.AsyncClient:
    """A client of an app that has these routes and answers errors as problem documents."""
    app = FastAPI()
    install_problem_handlers(app)
    for router in routers:
        app.include_router(router)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")
