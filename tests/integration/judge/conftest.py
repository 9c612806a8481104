"""The stand-in for the language models and the judge, each on a real port."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.mock_llm.app import create_app as create_stand_in
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.mock_llm.wire import ROUTES
from rlaif.storage.ports import ObjectStore
from rlaif.testing.http_server import serve
from rlaif.testing.waiting import eventually


class StandIn:
    """The stand-in at a URL, with its faults."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._before: dict[str, int] = {}

    async def fail(self, spec: str) -> None:
        """Set the faults, such as `vision/garbage:1`; empty for none."""
        async with httpx.AsyncClient() as client:
            (await client.put(f"{self.url}/faults", json={"spec": spec})).raise_for_status()

    async def calls(self, route: str = "") -> int:
        """Completions that it was asked for since judges started, on one route or on all."""
        return await self._all_calls(route) - self._before.get(route, 0)

    async def count_from_now(self) -> None:
        """Leave out what judges ask at their start to see whether their routes are well."""
        for route in ("", *ROUTES):
            self._before[route] = await self._all_calls(route)

    async def _all_calls(self, route: str) -> int:
        async with httpx.AsyncClient() as client:
            text = (await client.get(f"{self.url}/metrics")).text
        name = "rlaif_mock_llm_completions_total{"
        return sum(
            int(float(line.split()[-1]))
            for line in text.splitlines()
            if line.startswith(name) and (not route or f'route="{route}"' in line)
        )

    @asynccontextmanager
    async def also_at(self, port: int) -> AsyncIterator[None]:
        """Another one, without faults, on a port."""
        settings = MockLlmSettings(latency_seconds=0.005, jitter_seconds=0.0)
        async with serve(create_stand_in(settings), port=port):
            yield


@pytest.fixture
async def stand_in() -> AsyncIterator[StandIn]:
    settings = MockLlmSettings(
        latency_seconds=0.005, jitter_seconds=0.0, slow_seconds=0.2, retry_after_seconds=1
    )
    async with serve(create_stand_in(settings)) as url:
        yield StandIn(url)


@pytest.fixture
async def start_judge(
    nats_url: str,
    episodes_store: ObjectStore,
    models_store: ObjectStore,
    stand_in: StandIn,
) -> AsyncIterator[Callable[..., Awaitable[httpx.AsyncClient]]]:
    """Starts judges and waits until they work and know their routes; each is stopped at the end."""
    async with AsyncExitStack() as stack:

        async def start(*, wait: bool = True, **changes: object) -> httpx.AsyncClient:
            fields: dict[str, object] = {
                "nats_url": nats_url,
                "llm_base_url": stand_in.url,
                "breaker_pause_seconds": 0.2,
                "call_attempts": 1,
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
                await eventually(at_work, "the judge is at work", seconds=20)
                await stand_in.count_from_now()
            return client

        yield start
