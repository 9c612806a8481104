"""The judge on a real port, with the mock LLM."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.route import RouteLimits
from rlaif.storage.ports import ObjectStore
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually


@pytest.fixture
async def start_judge(
    nats_url: str,
    episodes_store: ObjectStore,
    models_store: ObjectStore,
    stand_in: Any,
) -> AsyncIterator[Callable[..., Awaitable[httpx.AsyncClient]]]:
    """Starts judges and waits until they work and know their routes; each is stopped at the end."""
    async with AsyncExitStack() as stack:

        async def start(*, wait: bool = True, **changes: object) -> httpx.AsyncClient:
            fields: dict[str, object] = {
                "nats_url": nats_url,
                "llm_base_url": stand_in.url,
                "limits": RouteLimits(attempts=1, pause_seconds=0.2),
                # Every criterion of every segment is asked, and nothing else: calls can be counted.
                "computed": "",
                "compare_share": 0.0,
                "canary_every": 0,
                "route_check_seconds": 0.5,
            }
            settings = JudgeSettings.model_validate(fields | changes)
            url = await stack.enter_async_context(
                serve(create_judge(settings, store=episodes_store, models=models_store))
            )
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=url))

            async def at_work() -> bool:
                checks = (await client.get("/readyz")).json()["checks"]
                judges = (await client.get("/api/v1/judges")).json()["judges"]
                routes = [judge["health"] for judge in judges]
                return all(
                    check["ok"] for name, check in checks.items() if not name.startswith("route:")
                ) and all(route["answered"] or route["trouble"] for route in routes)

            if wait:
                await eventually(at_work, "the judge is at work")
                await stand_in.count_from_now()
            return client

        yield start
