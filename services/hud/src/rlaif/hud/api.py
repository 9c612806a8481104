"""The REST interface: what the page shows, for tools and as a fallback."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query, Request, Response

from rlaif.contracts.ids import ID_PATTERN
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.score_detail import score_detail
from rlaif.hud.read_model.views import EventsPage, PictureLink, SegmentDetail, SegmentRow, Snapshot
from rlaif.hud.segment_objects import (
    UnreadableObjectError,
    picture_names,
    read_picture,
    read_segment,
)
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import Problem, not_found, store_unavailable
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError

T = TypeVar("T")

SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Segment.")]
EpisodeId = Annotated[str, Path(pattern=ID_PATTERN, description="Episode.")]
PictureName = Annotated[
    str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\.png$", description="File name.")
]
JPEG_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}}, "description": "The newest frame."}
}
PNG_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {}}, "description": "The picture."}
}


def api_router(state: HudState, store: ObjectStore, clock: Callable[[], datetime]) -> APIRouter:
    """All REST routes."""
    router = APIRouter(prefix="/api/v1")
    _add_live_routes(router, state, clock)
    _add_segment_routes(router, state, store)
    return router


def _add_live_routes(router: APIRouter, state: HudState, clock: Callable[[], datetime]) -> None:
    @router.get("/state", operation_id="get_state", tags=["live"])
    async def get_state(response: Response) -> Snapshot:
        """Everything that the page shows, at this moment."""
        response.headers["Cache-Control"] = "no-store"
        return state.snapshot(clock())

    @router.get(
        "/screen",
        operation_id="get_screen",
        tags=["live"],
        response_class=Response,
        responses=JPEG_RESPONSE,
    )
    async def get_screen(request: Request) -> Response:
        """The newest game screen, a 160x144 JPEG; 304 when `If-None-Match` has its ETag."""
        frame = state.screen.frame
        if frame is None:
            raise Problem(404, "no-screen-yet", "No screen yet", "No trainer has sent a frame yet.")
        headers = {"ETag": f'"{state.journal.epoch}-{frame.sequence}"', "Cache-Control": "no-cache"}
        return _unless_cached(request, frame.jpeg, "image/jpeg", headers)

    @router.get("/events", operation_id="list_events", tags=["live"])
    async def list_events(
        after: Annotated[int, Query(ge=0, description="Id of the last line seen.")] = 0,
        limit: Annotated[int, Query(ge=1, le=1000, description="Most lines.")] = 200,
    ) -> EventsPage:
        """Lines of the event log after an id, oldest first."""
        return state.journal.after(after, limit=limit)


def _add_segment_routes(router: APIRouter, state: HudState, store: ObjectStore) -> None:
    @router.get("/segments", operation_id="list_segments", tags=["segments"])
    async def list_segments(page: Paging) -> Page[SegmentRow]:
        """The segments that were exported or scored last, the newest first."""
        rows = list(state.segments.listing())
        if page.after:
            ids = [row.segment_id for row in rows]
            rows = rows[ids.index(page.after) + 1 :] if page.after in ids else []
        return page.take(rows, key=lambda row: row.segment_id)

    @router.get(
        "/segments/{episode_id}/{segment_id}", operation_id="get_segment", tags=["segments"]
    )
    async def get_segment(
        request: Request,
        episode_id: EpisodeId,
        segment_id: SegmentId,
        judge_config: Annotated[
            str | None,
            Query(pattern=ID_PATTERN, description="Whose score; the newest when left out."),
        ] = None,
    ) -> SegmentDetail:
        """One segment: the exporter's manifest, the judges' score, links to its pictures."""
        row = state.segments.get(segment_id)
        config = judge_config or (row.judge_config if row else None)
        stored = await _stored(
            "segment", segment_id, lambda: read_segment(store, episode_id, segment_id, config)
        )
        return SegmentDetail(
            segment=row,
            manifest=stored.manifest,
            score=score_detail(stored.score) if stored.score else None,
            calls=stored.score.calls if stored.score else (),
            score_problem=stored.score_problem,
            pictures=tuple(
                PictureLink(step=step, url=f"{request.url.path}/frames/{name}")
                for name, step in picture_names(stored.manifest)
            ),
        )

    @router.get(
        "/segments/{episode_id}/{segment_id}/frames/{name}",
        operation_id="get_picture",
        tags=["segments"],
        response_class=Response,
        responses=PNG_RESPONSE,
    )
    async def get_picture(
        request: Request, episode_id: EpisodeId, segment_id: SegmentId, name: PictureName
    ) -> Response:
        """One picture of a segment; it never changes."""
        png = await _stored(
            "picture", name, lambda: read_picture(store, episode_id, segment_id, name)
        )
        headers = {
            "ETag": f'"{sha256(png).hexdigest()[:32]}"',
            "Cache-Control": "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff",
        }
        return _unless_cached(request, png, "image/png", headers)


async def _stored(what: str, id: str, read: Callable[[], T]) -> T:
    """Read from the store in a thread; its errors become problems."""
    try:
        return await asyncio.to_thread(read)
    except ObjectNotFoundError as error:
        raise not_found(what, id) from error
    except UnreadableObjectError as error:
        raise Problem(502, "unreadable-object", "An object is not readable", str(error)) from error
    except StoreUnavailableError as error:
        raise store_unavailable(str(error)) from error


def _unless_cached(
    request: Request, body: bytes, media_type: str, headers: dict[str, str]
) -> Response:
    known = request.headers.get("if-none-match", "")
    if headers["ETag"] in (tag.strip() for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
