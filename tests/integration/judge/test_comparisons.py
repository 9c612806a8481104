"""Pairs compared by a whole judge: what the reward model wants."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.judging.comparisons import ComparisonRecord, WantedComparisons, WantedPair
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

PAIRS = (("seg-00", "seg-01"), ("seg-00", "seg-02"), ("seg-01", "seg-02"))


class Judging:
    """The pipeline around the judge, and the reward model behind it."""

    def __init__(self, pipeline: Any, models: ObjectStore) -> None:
        self.pipeline = pipeline
        self.episodes: ObjectStore = pipeline.store
        self.models = models

    async def score(self, segments: int) -> None:
        """Export segments, and wait until each is scored and compared with whatever it may be."""
        await self.pipeline.export(segments)
        await self.pipeline.all_scored()

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
def judging(pipeline: Any, models_store: ObjectStore) -> Judging:
    return Judging(pipeline, models_store)


async def test_what_the_reward_model_wants_is_compared_by_whichever_judge_and_once(
    judging: Judging, start_judge: Any
) -> None:
    first = await start_judge()
    await judging.score(3)
    judging.want((await first.get("/api/v1/judges")).json()["judge_config"])
    # Other processes than the one that scored the segments; both read the same list.
    two = [await start_judge(compare_share=1.0), await start_judge(compare_share=1.0)]
    await judging.score(27)
    compared = judging.compared()
    assert {(record.first, record.second) for record in compared} == set(PAIRS)
    assert all(len(record.calls) == 2 for record in compared)
    # What each says of itself adds up to what is stored.
    reports = [(await client.get("/api/v1/judges")).json()["judges"] for client in two]
    judges = [judge for report in reports for judge in report]
    pairs = sum(judge["statistics"]["comparisons"]["pairs"] for judge in judges)
    assert pairs == len(compared)
    listed = (await first.get("/api/v1/comparisons", params={"limit": 100})).json()["items"]
    assert len(listed) == len(compared)
    assert all("calls" not in item and item["why"] for item in listed)
