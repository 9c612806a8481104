"""REST routes of the exporter: captures, segments and their pictures, in key order."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field, ValidationError

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.model import ID_PATTERN
from rlaif.exporter.committing import picture_name
from rlaif.service.paging import Page, PageRequest, Paging, read_page
from rlaif.service.problems import not_found, reached, store_unavailable
from rlaif.storage import keys
from rlaif.storage.ports import (
    DAMAGED,
    ObjectInfo,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)

CAPTURES = "captures/"
_CAPTURE_SUFFIX = ".capture"
_AFTER_SLASH = "0"
"""The character after "/": sorts after every key in the folder."""

_LAST_STEP = 999_999
_UNCHANGING = {"Cache-Control": "public, max-age=31536000, immutable"}


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
    """A page of manifests. Blocks."""

    def read(info: ObjectInfo) -> SegmentSummary:
        manifest = SegmentManifest.model_validate_json(store.get(info.key))
        return SegmentSummary(**manifest.model_dump(exclude={"pictures"}))

    prefix = f"{episode_id}/" if episode_id else ""
    found = request.take(manifests(store, prefix, request.after), lambda info: info.key)
    return read_page(found, read, skip=(*DAMAGED, ValidationError))


def manifests(store: ObjectStore, prefix: str, after: str) -> Iterator[ObjectInfo]:
    """The manifests below `prefix`, in key order; other folders are skipped."""
    while True:
        for info in store.list(prefix, after=after):
            folder = info.key.split("/", 1)[0]
            if folder in keys.FOLDERS:
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


EpisodeId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the episode.")]
SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the segment.")]
EpisodeFilter = Annotated[
    str | None, Query(pattern=ID_PATTERN, description="Only segments of this episode.")
]


def build_router(
    store: Callable[[], ObjectStore | None],
    dead_segments: Callable[[], Awaitable[frozenset[str] | None]],
) -> APIRouter:
    """The routes; `store` and `dead_segments` return None while S3 or NATS is unavailable."""
    router = APIRouter(prefix="/api/v1")

    @router.get("/captures", tags=["captures"], operation_id="list_captures")
    async def list_captures(
        paging: Paging, episode_id: EpisodeFilter = None
    ) -> Page[CaptureSummary]:
        """Captures by key, with their export state."""
        dead = await dead_segments() or frozenset()
        try:
            return await asyncio.to_thread(
                capture_page, reached(store()), paging, dead, episode_id=episode_id
            )
        except StorageError as error:
            raise store_unavailable(str(error)) from error

    @router.get("/segments", tags=["segments"], operation_id="list_segments")
    async def list_segments(
        paging: Paging, episode_id: EpisodeFilter = None
    ) -> Page[SegmentSummary]:
        """Exported segments by key, without their pictures."""
        try:
            return await asyncio.to_thread(
                segment_page, reached(store()), paging, episode_id=episode_id
            )
        except StorageError as error:
            raise store_unavailable(str(error)) from error

    @router.get(
        "/segments/{episode_id}/{segment_id}", tags=["segments"], operation_id="get_segment"
    )
    async def get_segment(episode_id: EpisodeId, segment_id: SegmentId) -> SegmentManifest:
        """The manifest of one segment."""
        data = await _read(
            reached(store()), keys.manifest(episode_id, segment_id), "segment", segment_id
        )
        try:
            return SegmentManifest.model_validate_json(data)
        except ValidationError as error:
            raise store_unavailable(str(error)) from error

    @router.get(
        "/segments/{episode_id}/{segment_id}/frames/{step}.png",
        tags=["segments"],
        operation_id="get_segment_frame",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}}},
    )
    async def get_segment_frame(
        episode_id: EpisodeId,
        segment_id: SegmentId,
        step: Annotated[int, Path(ge=0, le=_LAST_STEP, description="One of picture_steps.")],
    ) -> Response:
        """The picture after an emulator step."""
        key = keys.segment(episode_id, segment_id, picture_name(step))
        data = await _read(reached(store()), key, "frame", f"{segment_id}/{step}")
        return Response(data, media_type="image/png", headers=_UNCHANGING)

    return router


async def _read(store: ObjectStore, key: str, what: str, id: str) -> bytes:
    try:
        return await asyncio.to_thread(store.get, key)
    except ObjectNotFoundError:
        raise not_found(what, id) from None
    except StorageError as error:
        raise store_unavailable(str(error)) from error
