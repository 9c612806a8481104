"""Which segments an epoch has."""

from dataclasses import dataclass, field
from hashlib import sha256

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.segments import SegmentManifest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore


@dataclass(frozen=True)
class EpochSegment:
    """One exported segment of the epoch, and the event that would tell of it."""

    manifest: SegmentManifest
    event: SegmentExported


@dataclass
class Epoch:
    """The segments of one epoch of one run, by environment step; epochs count from 0.

    `run_id` is None when there is no segment at all; `failed` says segment id → why not judged.
    """

    number: int
    run_id: str | None
    segments: list[EpochSegment] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def find_epoch(store: ObjectStore, number: int, *, epoch_steps: int, run_id: str | None) -> Epoch:
    """The segments that were captured in an epoch of a run, else of the last one. Blocks."""
    found: list[EpochSegment] = []
    for info in store.list():
        if keys.manifest_ids(info.key) is None:
            continue
        data = store.get(info.key)
        manifest = SegmentManifest.model_validate_json(data)
        found.append(EpochSegment(manifest, _event(manifest, info.key, data)))
    if run_id is None and found:
        run_id = max(found, key=lambda segment: segment.manifest.created_at).manifest.run_id
    mine = [
        segment
        for segment in found
        if segment.manifest.run_id == run_id and segment.manifest.env_step // epoch_steps == number
    ]
    mine.sort(key=lambda segment: (segment.manifest.env_step, segment.manifest.segment_id))
    return Epoch(number, run_id, mine)


def _event(manifest: SegmentManifest, key: str, data: bytes) -> SegmentExported:
    return SegmentExported(
        segment_id=manifest.segment_id,
        episode_id=manifest.episode_id,
        run_id=manifest.run_id,
        manifest_key=key,
        manifest_sha256=sha256(data).hexdigest(),
        frames=manifest.frames,
        decision_steps=manifest.decision_steps,
    )
