"""Reads the stored events, dead letters and objects of the segments of a pipeline."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from rlaif.bus.connection import Bus
from rlaif.contracts.events import (
    CloudEvent,
    DeadLetter,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.storage import keys
from rlaif.storage.ports import ObjectCorruptError, ObjectStore

_CAPTURE = re.compile(r"captures/[^/]+/([^/]+)\.capture")

Scored = tuple[str, str]
"""Judge configuration and segment."""


@dataclass(frozen=True)
class Facts:
    """Objects by segment, and the stored events.

    Attributes:
        captures: Segment → key of its capture.
        manifests: Segment → key of its manifest.
        scores: Digest of each score object.
        captured: Segments with a stored event of their capture.
        announced: Digests in the stored events of each score.
        all_announced: Whether the stream of scores has dropped no event.
        letters: All dead letters.
        pending: Segments with an event that its consumer has not finished.
    """

    captures: Mapping[str, str]
    manifests: Mapping[str, str]
    scores: Mapping[Scored, str]
    captured: frozenset[str]
    announced: Mapping[Scored, Counter[str]]
    all_announced: bool
    letters: tuple[CloudEvent[DeadLetter], ...]
    pending: frozenset[str]

    @property
    def dead(self) -> frozenset[str]:
        """Segments with a dead letter."""
        found = (_segment_of(letter.data.original) for letter in self.letters)
        return frozenset(segment for segment in found if segment is not None)

    @property
    def scored(self) -> frozenset[str]:
        return frozenset(segment for _, segment in self.scores)

    def counts(self) -> dict[str, int]:
        return {
            "captured": len(self.captured | self.captures.keys()),
            "exported": len(self.manifests),
            "scored": len(self.scored),
            "dead": len(self.letters),
        }


async def read_facts(bus: Bus, episodes: ObjectStore) -> Facts:
    """Read everything; events before objects, so that a new object is not reported as orphan."""
    captured = await bus.stored(SegmentCaptured)
    exported = await bus.stored(SegmentExported)
    scored = await bus.stored(SegmentScored)
    announced: dict[Scored, Counter[str]] = {}
    for data in scored.data:
        key = (data.judge_config, data.segment_id)
        announced.setdefault(key, Counter())[data.score_sha256] += 1
    waiting = (*captured.unfinished, *exported.unfinished, *scored.unfinished)
    letters = await bus.dead_letters()
    captures, manifests, scores = await asyncio.to_thread(_objects, episodes)
    return Facts(
        captures=captures,
        manifests=manifests,
        scores=scores,
        captured=frozenset(data.segment_id for data in captured.data),
        announced=announced,
        all_announced=scored.complete,
        letters=tuple(letters),
        pending=frozenset(data.segment_id for data in waiting),
    )


def _objects(episodes: ObjectStore) -> tuple[dict[str, str], dict[str, str], dict[Scored, str]]:
    captures: dict[str, str] = {}
    manifests: dict[str, str] = {}
    scores: dict[Scored, str] = {}
    for info in episodes.scan():
        if (capture := _CAPTURE.fullmatch(info.key)) is not None:
            captures[capture[1]] = info.key
        elif (scored := keys.score_ids(info.key)) is not None:
            scores[scored] = _digest(episodes, info.key)
        elif (ids := keys.manifest_ids(info.key)) is not None:
            manifests[ids[1]] = info.key
    return captures, manifests, scores


def _digest(episodes: ObjectStore, key: str) -> str:
    """Digest of an object; empty for one that is too large to be what it should be."""
    try:
        return sha256(episodes.get(key)).hexdigest()
    except ObjectCorruptError:
        return ""


def _segment_of(original: dict[str, Any] | str) -> str | None:
    """The segment of a dead event; None for an invalid event or one without a segment."""
    data = original.get("data") if isinstance(original, dict) else None
    segment = data.get("segment_id") if isinstance(data, dict) else None
    return segment if isinstance(segment, str) else None
