import asyncio
import hashlib
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentExported, SegmentScored
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually


async def scored_events(bus: Bus) -> list[SegmentScored]:
    """Every `SegmentScored` that the stream holds."""
    info = await bus.jetstream.stream_info("SCORES")
    feed = bus.feed().follow(SegmentScored, history=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [(await anext(feed)).data for _ in range(info.state.messages)]


async def test_an_exported_segment_is_scored_and_published(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    client = await start_judge()
    await pipeline.publish(write_segment(pipeline.store))
    (record,) = await pipeline.all_scored()
    assert set(record.criteria) | set(record.abstentions) == set(RUBRIC_WEIGHTS)
    assert record.abstentions["dialog"] == "insufficient_evidence"
    assert record.weighted is not None
    assert await stand_in.calls() == len(record.calls) == 9
    (event,) = await scored_events(pipeline.bus)
    data = pipeline.store.get(event.score_key)
    assert event.score_sha256 == hashlib.sha256(data).hexdigest()
    assert event.weighted == record.weighted
    listed = (await client.get("/api/v1/scores")).json()["items"]
    assert [item["segment_id"] for item in listed] == ["seg-1"]
    shown = (await client.get("/api/v1/scores/seg-1")).json()
    assert len(shown["calls"]) == 9
    health = (await client.get("/api/v1/judges")).json()["judges"][0]["health"]
    assert (health["calls"], health["failures"]) == (3, 0)


async def test_a_segment_announced_many_times_has_one_score_and_one_event(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    await start_judge()
    event = write_segment(pipeline.store)
    # The same event under other message ids, as after a lost duplicate window.
    envelope = await _envelope(pipeline, event)
    for at in range(5):
        await pipeline.bus.jetstream.publish(
            "segment.exported", envelope, headers={"Nats-Msg-Id": f"again-{at}"}
        )
    await pipeline.all_scored()
    assert len(await scored_events(pipeline.bus)) == 1
    assert await stand_in.calls() == 9


async def _envelope(pipeline: Any, event: SegmentExported) -> bytes:
    await pipeline.publish(event)
    message = await pipeline.bus.jetstream.get_last_msg("SEGMENTS", "segment.exported")
    assert message.data is not None
    return message.data


async def test_two_judges_share_the_work_without_a_second_score(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    await start_judge()
    await start_judge()
    await pipeline.export(6)
    assert len(await pipeline.all_scored()) == len(await scored_events(pipeline.bus)) == 6
    assert await stand_in.calls() == 54


async def test_a_corrupt_segment_is_a_dead_letter_and_never_scored(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    await start_judge()
    event = write_segment(pipeline.store)
    pipeline.store.put("ep-1/seg-1/states.jsonl", b"spoiled")
    await pipeline.publish(event)

    async def buried() -> bool:
        return len(await pipeline.bus.dead_letters()) == 1

    await eventually(buried, "the event is a dead letter")
    (letter,) = await pipeline.bus.dead_letters()
    assert letter.data.reason == "corrupt_segment"
    assert await pipeline.scores() == {}
    assert await stand_in.calls() == 0


async def test_a_judge_without_its_servers_runs_and_reports_its_missing_dependencies(
    start_judge: Any,
) -> None:
    client = await start_judge(wait=False, nats_url="nats://127.0.0.1:9")

    async def says_why() -> bool:
        checks = (await client.get("/readyz")).json()["checks"]
        return "no NATS at 127.0.0.1:9" in (checks["bus"]["detail"] or "")

    await eventually(says_why, "the readiness names NATS")
    reply = await client.get("/readyz")
    assert reply.status_code == 503
    assert reply.json()["checks"]["store"]["ok"] is True
    assert (await client.get("/livez")).status_code == 200
    assert (await client.get("/api/v1/judges")).status_code == 200


async def test_by_default_a_plain_walk_costs_three_calls_and_the_ram_says_the_rest(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    await start_judge(computed="novelty,efficiency,absence", audit_share=0.0)
    await pipeline.publish(write_segment(pipeline.store))
    (record,) = await pipeline.all_scored()
    assert await stand_in.calls() == len(record.calls) == 3
    sources = {name: score.source for name, score in record.criteria.items()}
    assert sources == {"progress": "votes", "novelty": "computed", "efficiency": "computed"}
    assert set(record.abstentions) == {"dialog", "puzzle"}
    assert record.truth["novelty"] == 0
    assert record.evidence_sha256 is not None
