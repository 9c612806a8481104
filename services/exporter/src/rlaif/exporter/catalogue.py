"""Captures and exported segments in the store, in key order."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.service.paging import Page, PageRequest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

CAPTURES = "captures/"
_CAPTURE_SUFFIX = ".capture"
_OTHER_FOLDERS = frozenset({"captures", "keyframes", "scores", "pipeline", "probe"})
_AFTER_SLASH = "0"
"""The character after "/": sorts after every key in the folder."""


class CaptureSummary(BaseModel):
    """One capture in a list."""

    episode_id: str
    segment_id: str
    key: str
    size_bytes: int
    stored_at: datetime
    status: Literal["exported", "pending", "dead"] = Field(
        description="exported: its manifest exists; dead: see the dead letters; pending: neither."
    )


class SegmentSummary(SegmentManifest):
    """A manifest in a list: without its pictures."""

    pictures: tuple[()] = Field(default=(), exclude=True)


def capture_page(
    store: ObjectStore, request: PageRequest, dead: frozenset[str], *, episode_id: str | None
) -> Page[CaptureSummary]:
    """A page of captures. Blocks; one store request per capture."""
    prefix = f"{CAPTURES}{episode_id}/" if episode_id else CAPTURES
    found = request.take(store.list(prefix, after=request.after), lambda info: info.key)
    items = [_capture(store, info, dead) for info in found.items]
    return Page(items=items, next_cursor=found.next_cursor)


def segment_page(
    store: ObjectStore, request: PageRequest, *, episode_id: str | None
) -> Page[SegmentSummary]:
    """A page of manifests; ValidationError if one is invalid. Blocks."""
    prefix = f"{episode_id}/" if episode_id else ""
    found = request.take(manifests(store, prefix, request.after), lambda info: info.key)
    items = [SegmentSummary.model_validate(_manifest(store, info.key)) for info in found.items]
    return Page(items=items, next_cursor=found.next_cursor)


def manifests(store: ObjectStore, prefix: str, after: str) -> Iterator[ObjectInfo]:
    """The manifests below `prefix`, in key order; other folders are skipped."""
    while True:
        for info in store.list(prefix, after=after):
            folder = info.key.split("/", 1)[0]
            if folder in _OTHER_FOLDERS:
                after = folder + _AFTER_SLASH
                break
            if keys.manifest_ids(info.key):
                yield info
        else:
            return


def _capture(store: ObjectStore, info: ObjectInfo, dead: frozenset[str]) -> CaptureSummary:
    episode_id, _, name = info.key.removeprefix(CAPTURES).partition("/")
    segment_id = name.removesuffix(_CAPTURE_SUFFIX)
    status: Literal["exported", "pending", "dead"] = "pending"
    if store.head(keys.manifest(episode_id, segment_id)) is not None:
        status = "exported"
    elif segment_id in dead:
        status = "dead"
    return CaptureSummary(
        episode_id=episode_id,
        segment_id=segment_id,
        key=info.key,
        size_bytes=info.size_bytes,
        stored_at=info.modified_at,
        status=status,
    )


def _manifest(store: ObjectStore, key: str) -> dict[str, object]:
    manifest = SegmentManifest.model_validate_json(store.get(key))
    return manifest.model_dump(exclude={"pictures"})
