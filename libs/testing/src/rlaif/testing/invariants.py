"""Invariants of a pipeline at rest, checked from bus and store.

I1  every exported segment has a score or a dead letter, and never both
I2  one score object per segment, one event per object, and the event has its digest
I3  every dead letter has a reason
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.contracts.events import CloudEvent, SegmentCaptured, SegmentExported, SegmentScored
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

_QUIET_SECONDS = 2.0


@dataclass
class PipelineFindings:
    """Counts, and a sentence for each violation."""

    captured: int = 0
    exported: int = 0
    scored: int = 0
    dead: int = 0
    wrong: list[str] = field(default_factory=list)


async def check(bus: Bus, episodes: ObjectStore) -> PipelineFindings:
    """Check a pipeline in which nothing is under way."""
    exported = await asyncio.to_thread(_exported, episodes)
    scores = await asyncio.to_thread(_scores, episodes)
    letters = await bus.dead_letters(limit=1000)
    captured = await _events(bus, SegmentCaptured)
    told = await _events(bus, SegmentScored)
    findings = PipelineFindings(
        captured=len({event.data.segment_id for event in captured}),
        exported=len(exported),
        scored=len({segment for _, segment in scores}),
        dead=len(letters),
    )
    dead = {_segment_of(letter.data.original) for letter in letters} - {None}
    scored = {segment for _, segment in scores}
    for segment in sorted(exported - scored - dead):
        findings.wrong.append(f"I1 {segment} was exported and has neither score nor dead letter")
    for segment in sorted(scored & dead):
        findings.wrong.append(f"I1 {segment} has a score and a dead letter")
    for segment in sorted({e.data.segment_id for e in captured} - exported - dead):
        findings.wrong.append(f"I1 {segment} was captured and is neither exported nor dead")
    _check_scores(scores, told, findings)
    findings.wrong += [f"I3 {e.id} has no reason" for e in letters if not e.data.reason]
    return findings


def _check_scores(
    scores: dict[tuple[str, str], str], told: list[CloudEvent[Any]], findings: PipelineFindings
) -> None:
    events = Counter((event.data.judge_config, event.data.segment_id) for event in told)
    for event in told:
        key = (event.data.judge_config, event.data.segment_id)
        if key not in scores:
            findings.wrong.append(f"I2 {key[1]} was announced as scored and has no score object")
        elif scores[key] != event.data.score_sha256:
            findings.wrong.append(f"I2 the event of {key[1]} has another digest than the object")
    for key in scores:
        if events[key] != 1:
            findings.wrong.append(f"I2 {key[1]} has one score object and {events[key]} events")


def _exported(episodes: ObjectStore) -> set[str]:
    ids = (keys.manifest_ids(info.key) for info in episodes.list())
    return {found[1] for found in ids if found is not None}


def _scores(episodes: ObjectStore) -> dict[tuple[str, str], str]:
    """(judge configuration, segment) → digest of the score object."""
    found = {}
    for info in episodes.list(keys.scores()):
        ids = keys.score_ids(info.key)
        if ids is not None:
            found[ids] = sha256(episodes.get(info.key)).hexdigest()
    return found


async def _events(
    bus: Bus, kind: type[SegmentCaptured] | type[SegmentScored]
) -> list[CloudEvent[Any]]:
    """All stored events of one kind: the feed's history, until it falls quiet."""
    found: list[CloudEvent[Any]] = []
    feed: AsyncIterator[CloudEvent[Any]] = bus.feed().follow(kind, history=True)
    try:
        while True:
            found.append(await asyncio.wait_for(anext(feed), _QUIET_SECONDS))
    except (TimeoutError, StopAsyncIteration):
        return found


def _segment_of(original: dict[str, Any] | str) -> str | None:
    """The segment of a dead event; None when it was no event, or names none."""
    data = original.get("data") if isinstance(original, dict) else None
    segment = data.get("segment_id") if isinstance(data, dict) else None
    return segment if isinstance(segment, str) else None


async def under_way(bus: Bus) -> int:
    """Events between trainer and reward model that are not finished."""
    return (
        await bus.backlog(SegmentCaptured, "exporter")
        + await bus.backlog(SegmentExported, "judge")
        + await bus.backlog(SegmentScored, "reward-model")
    )
