"""The judge on a real port with the mock LLM, and the pipeline around it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.route import RouteLimits
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import all_answered, eventually


class Pipeline:
    """The exporter before the judges, and the scores behind them."""

    def __init__(self, bus: Bus, store: ObjectStore) -> None:
        self.bus = bus
        self.store = store
        self.exported = 0

    async def export(self, segments: int) -> None:
        """Export walks, each from another place, as `seg-00`, `seg-01` and so on."""
        for _ in range(segments):
            await self.export_states([described_state(step + self.exported) for step in range(75)])

    async def export_states(self, states: list[dict[str, Any]]) -> None:
        segment_id = f"seg-{self.exported:02}"
        await self.publish(
            await asyncio.to_thread(write_segment, self.store, segment_id, states=states)
        )

    async def publish(self, event: SegmentExported) -> None:
        await self.bus.publisher("exporter").publish(event)
        self.exported += 1

    async def scores(self) -> dict[str, ScoreRecord]:
        """Segment id → its score."""

        def read() -> dict[str, ScoreRecord]:
            data = [self.store.get(info.key) for info in list(self.store.list(keys.scores()))]
            return {r.segment_id: r for r in map(ScoreRecord.model_validate_json, data)}

        return await asyncio.to_thread(read)

    async def idle(self) -> None:
        """Wait until no event is left."""
        await eventually(
            lambda: all_answered(self.bus, SegmentExported, "judge"), "no event is left"
        )

    async def all_scored(self) -> list[ScoreRecord]:
        """Every score, once each exported segment has one; no event waits, none died."""

        async def done() -> bool:
            return len(await self.scores()) == self.exported

        await eventually(done, "every segment is scored")
        await self.idle()
        assert await self.bus.dead_letters() == []
        return list((await self.scores()).values())


@pytest.fixture
def pipeline(bus: Bus, episodes_store: ObjectStore) -> Pipeline:
    return Pipeline(bus, episodes_store)


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
