"""The mock LLM for the language models, on a real port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.chat import ROUTES
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.servers.http_server import serve


class StandIn:
    """The mock LLM at a URL, with its faults."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._before: dict[str, int] = {}

    async def fail(self, spec: str) -> None:
        """Set the faults, such as `vision/garbage:1`; empty for none."""
        async with httpx.AsyncClient() as client:
            (await client.put(f"{self.url}/faults", json={"spec": spec})).raise_for_status()

    async def calls(self, route: str = "") -> int:
        """Completions that it was asked for since the count began, on one route or on all."""
        return await self._all_calls(route) - self._before.get(route, 0)

    async def count_from_now(self) -> None:
        """Leave out what judges ask at their start to see whether their routes are healthy."""
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
        async with serve(create_app(settings), port=port):
            yield


@pytest.fixture
async def stand_in() -> AsyncIterator[StandIn]:
    settings = MockLlmSettings(latency_seconds=0.005, jitter_seconds=0.0, retry_after_seconds=1)
    async with serve(create_app(settings)) as url:
        yield StandIn(url)
