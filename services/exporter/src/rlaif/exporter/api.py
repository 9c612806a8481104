"""REST routes of the exporter: captures, segments and their pictures."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import ValidationError

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.model import ID_PATTERN
from rlaif.exporter.catalogue import CaptureSummary, SegmentSummary, capture_page, segment_page
from rlaif.exporter.committing import picture_name
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import not_found, reached, store_unavailable
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

EpisodeId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the episode.")]
SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the segment.")]
EpisodeFilter = Annotated[
    str | None, Query(pattern=ID_PATTERN, description="Only those of this episode.")
]

_LAST_STEP = 999_999
_UNCHANGING = {"Cache-Control": "public, max-age=31536000, immutable"}


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
        except (StorageError, ValidationError) as error:
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
        """The picture after a decision step."""
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
