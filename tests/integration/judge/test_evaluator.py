import asyncio
import json
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentScored
from rlaif.judge.epoch import EpochPass, evaluate_epoch
from rlaif.judge.settings import JudgeSettings
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.waiting import PATIENCE_SECONDS

SEGMENTS = 4
EPOCH = EpochPass(epoch=1, epoch_steps=100_000)


def _write(store: ObjectStore) -> None:
    for at in range(SEGMENTS):
        walk = [described_state(step + at, rooms_visited=4 + step // 40) for step in range(75)]
        write_segment(store, f"seg-{at}", states=walk)


async def test_an_epoch_is_judged_once_and_reported(
    nats_url: str,
    bus: Bus,
    episodes_store: ObjectStore,
    models_store: ObjectStore,
    stand_in: Any,
) -> None:
    await asyncio.to_thread(_write, episodes_store)
    settings = JudgeSettings(
        nats_url=nats_url,
        llm_base_url=stand_in.url,
        temperature=0.0,  # no noise of the mock LLM
        audit_share=1.0,
    )
    stores = (episodes_store, models_store)
    report = await evaluate_epoch(settings, EPOCH, stores=stores)
    assert (report["segments"], report["judged"], report["failed"]) == (SEGMENTS, SEGMENTS, {})
    assert report["labels"] == SEGMENTS
    assert report["judges"]["vision"]["criteria"]["novelty"]["truth"]["votes"] == 3 * SEGMENTS
    stored = json.loads(models_store.get("evaluations/epoch_1/summary.json"))
    assert stored == report
    assert len(episodes_store.get("scores/epoch_1/scores.jsonl").splitlines()) == SEGMENTS
    info = await bus.jetstream.stream_info("SCORES")
    assert info.state.messages == SEGMENTS
    feed = bus.feed().follow(SegmentScored, history=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await anext(feed)).data.judge_config == report["judge_config"]

    before = await stand_in.calls()
    again = await evaluate_epoch(settings, EPOCH, stores=stores)
    assert again["judged"] == SEGMENTS
    assert await stand_in.calls() == before
    assert (await bus.jetstream.stream_info("SCORES")).state.messages == SEGMENTS
