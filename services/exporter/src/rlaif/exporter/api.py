"""REST routes of the exporter: the segments, in key order."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, ValidationError

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.model import ID_PATTERN
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

_AFTER_SLASH = "0"
"""The character after "/": sorts after every key in the folder."""


class SegmentSummary(SegmentManifest):
    """A manifest in a list: without its pictures."""

    pictures: tuple[()] = Field(default=(), exclude=True)


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


EpisodeId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the episode.")]
SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the segment.")]
EpisodeFilter = Annotated[
    str | None, Query(pattern=ID_PATTERN, description="Only segments of this episode.")
]


def build_router(store: Callable[[], ObjectStore | None]) -> APIRouter:
    """The routes; `store` returns None while S3 is unavailable."""
    router = APIRouter(prefix="/api/v1")

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
        key = keys.manifest(episode_id, segment_id)
        try:
            data = await asyncio.to_thread(reached(store()).get, key)
            return SegmentManifest.model_validate_json(data)
        except ObjectNotFoundError:
            raise not_found("segment", segment_id) from None
        except (StorageError, ValidationError) as error:
            raise store_unavailable(str(error)) from error

    return router
