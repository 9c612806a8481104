"""Pairs compared by a whole judge: what the reward model wants, what the RAM ties, and no list."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.judging.comparisons import ComparisonRecord, WantedComparisons, WantedPair
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.waiting import all_answered, eventually

PAIRS = (("seg-00", "seg-01"), ("seg-00", "seg-02"), ("seg-01", "seg-02"))


class Pipeline:
    """The exporter before the judge, and the reward model behind it."""

    def __init__(self, bus: Bus, episodes: ObjectStore, models: ObjectStore) -> None:
        self.bus = bus
        self.episodes = episodes
        self.models = models

    async def score(self, *numbers: int) -> None:
        """Export segments, and wait until each is scored and compared with whatever it may be."""
        for number in numbers:
            walk = [described_state(step + number) for step in range(75)]
            event = await asyncio.to_thread(
                write_segment, self.episodes, f"seg-{number:02}", states=walk
            )
            await self.bus.publisher("exporter").publish(event)
        await eventually(
            lambda: all_answered(self.bus, SegmentExported, "judge"),
            "every segment is answered",
        )

    def scored(self) -> int:
        return len(list(self.episodes.list(keys.scores())))

    def compared(self) -> list[ComparisonRecord]:
        infos = list(self.episodes.list(keys.comparisons()))
        return [ComparisonRecord.model_validate_json(self.episodes.get(i.key)) for i in infos]

    def want(self, judge_config: str) -> None:
        """Write the list as the reward model does."""
        wanted = WantedComparisons(
            judge_config=judge_config,
            pairs=tuple(WantedPair(first=a, second=b, uncertainty=0.8) for a, b in PAIRS),
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        self.models.put(keys.WANTED_COMPARISONS, wanted.model_dump_json().encode())


@pytest.fixture
def pipeline(bus: Bus, episodes_store: ObjectStore, models_store: ObjectStore) -> Pipeline:
    return Pipeline(bus, episodes_store, models_store)


async def test_what_the_reward_model_wants_is_compared_by_whichever_judge_and_once(
    pipeline: Pipeline, start_judge: Any
) -> None:
    first = await start_judge()
    await pipeline.score(0, 1, 2)
    pipeline.want((await first.get("/api/v1/judges")).json()["judge_config"])
    # Other processes than the one that scored the segments; both read the same list.
    two = [await start_judge(compare_share=1.0), await start_judge(compare_share=1.0)]
    await pipeline.score(*range(3, 30))
    compared = pipeline.compared()
    assert {(i.first, i.second) for i in compared if i.why == "uncertain"} == set(PAIRS)
    assert all(len(record.calls) == 2 for record in compared)
    assert pipeline.scored() == 30
    # What each says of itself adds up to what is stored.
    reports = [(await client.get("/api/v1/judges")).json()["judges"] for client in two]
    judges = [judge for report in reports for judge in report]
    pairs = sum(judge["statistics"]["comparisons"]["pairs"] for judge in judges)
    assert pairs == len(compared)
    listed = (await first.get("/api/v1/comparisons", params={"limit": 100})).json()["items"]
    assert len(listed) == len(compared)
    assert all("calls" not in item and item["why"] for item in listed)


async def test_what_the_ram_ties_goes_to_the_judge_that_sees_pictures(
    pipeline: Pipeline, start_judge: Any, stand_in: Any
) -> None:
    client = await start_judge(compare_share=1.0)
    await pipeline.score(*range(6))
    whys = Counter((record.why, record.judge, record.pictures) for record in pipeline.compared())
    assert set(whys) == {("near_tie", "puzzle", False), ("ram_tie", "vision", True)}
    # Two calls a comparison, one comparison a segment: the kinds share the budget.
    assert sum(whys.values()) <= 6
    text = (await client.get("/metrics")).text
    told = sum(
        float(line.split()[-1])
        for line in text.splitlines()
        if line.startswith("rlaif_judge_comparisons_total") and 'why="ram_tie"' in line
    )
    assert told == whys["ram_tie", "vision", True]
    assert 'rlaif_judge_comparison_consistency_ratio{judge="vision"} 1.0' in text


async def test_a_vision_route_that_fails_costs_comparisons_and_no_score(
    pipeline: Pipeline, start_judge: Any, stand_in: Any
) -> None:
    # Only the comparisons ask the vision judge here: the RAM decides what it judges.
    client = await start_judge(
        compare_share=1.0, computed="novelty,efficiency,absence", audit_share=0.0
    )
    await stand_in.fail("vision/500:1")
    await pipeline.score(*range(6))
    assert pipeline.scored() == 6
    assert {record.why for record in pipeline.compared()} == {"near_tie"}
    text = (await client.get("/metrics")).text
    assert 'rlaif_judge_comparisons_total{result="outage",why="ram_tie"}' in text
