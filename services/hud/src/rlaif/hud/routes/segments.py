"""Segments: the list with its filters, one segment's page, its film and its steps."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from rlaif.contracts.game.films import MEDIA_TYPE, FilmError, unpack_film
from rlaif.contracts.model import ID_PATTERN
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.segments import detail
from rlaif.hud.read_model.segments.detail import (
    CaptureView,
    SegmentDetail,
    SegmentFacets,
    SegmentSteps,
    score_detail,
)
from rlaif.hud.read_model.segments.queries import (
    Order,
    Place,
    SegmentFilter,
    facets,
    ordered,
    place,
    with_gaps,
)
from rlaif.hud.read_model.views import PictureLink, SegmentRow
from rlaif.hud.routes.stored import immutable, stored
from rlaif.hud.segment_objects import (
    StoredSegment,
    UnreadableObjectError,
    animation,
    picture_names,
    read_capture,
    read_film,
    read_manifest,
    read_picture,
    read_segment,
    read_states,
)
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import Problem
from rlaif.storage.ports import ObjectStore

SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Segment.")]
EpisodeId = Annotated[str, Path(pattern=ID_PATTERN, description="Episode.")]
PictureName = Annotated[
    str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\.png$", description="File name.")
]

_READS_AT_ONCE = 4
"""Segments that are read from the store concurrently: all pages share a thread pool."""

RoomName = Callable[[int, int], str | None]
"""(group, room) → its name; None if unknown."""


def segments_router(
    state: HudState, store: ObjectStore, *, room_name: RoomName | None = None
) -> APIRouter:
    """All routes of segments; without `room_name` rooms of lists have no names."""
    router = APIRouter(prefix="/api/v1/segments", tags=["segments"])
    reads = asyncio.Semaphore(_READS_AT_ONCE)
    _add_lists(router, state, room_name)
    _add_segment(router, state, store, reads)
    _add_pictures(router, store, reads)
    return router


def _add_lists(router: APIRouter, state: HudState, room_name: RoomName | None) -> None:
    @router.get("", operation_id="list_segments")
    async def list_segments(
        page: Paging,
        wanted: Annotated[SegmentFilter, Depends()],
        order: Annotated[
            Order,
            Query(
                description="newest: by the newest stage; disagreement: by ascending agreement of "
                "the language models; model_gap: by descending difference of judges and reward "
                "model. Segments without the value are left out."
            ),
        ] = "newest",
    ) -> Page[SegmentRow]:
        """Exported or scored segments."""
        rows = with_gaps(list(state.segments.listing()))
        found = ordered(rows, wanted, order, _place(page.after))
        taken = page.take(found, key=lambda row: _key(row, order))
        return taken if room_name is None else _named(taken, room_name)

    @router.get("/facets", operation_id="get_segment_facets")
    async def get_facets() -> SegmentFacets:
        """Values of the filters."""
        return facets(with_gaps(list(state.segments.listing())))


def _named(page: Page[SegmentRow], room_name: RoomName) -> Page[SegmentRow]:
    def named(row: SegmentRow) -> SegmentRow:
        names = None if row.rooms is None else tuple(room_name(*room) for room in row.rooms)
        return row.model_copy(update={"room_names": names})

    return page.model_copy(update={"items": [named(row) for row in page.items]})


def _place(key: str) -> Place | None:
    if not key:
        return None
    try:
        return Place.of_key(key)
    except ValueError as error:
        raise Problem(
            400, "invalid-cursor", "Invalid cursor", "Use `next_cursor` of a page unchanged."
        ) from error


def _key(row: SegmentRow, order: Order) -> str:
    at = place(row, order)
    assert at is not None, "only rows with a position are listed"
    return at.key()


def _add_segment(
    router: APIRouter, state: HudState, store: ObjectStore, reads: asyncio.Semaphore
) -> None:
    @router.get("/{episode_id}/{segment_id}", operation_id="get_segment")
    async def get_segment(
        request: Request,
        episode_id: EpisodeId,
        segment_id: SegmentId,
        judge_config: Annotated[
            str | None,
            Query(pattern=ID_PATTERN, description="Judge configuration; default: the newest."),
        ] = None,
    ) -> SegmentDetail:
        """One segment: manifest, score by criterion and judge, and the trainer's record."""
        row = _row(state, segment_id)
        config = judge_config or (row.judge_config if row else None)
        async with reads:
            found, capture, problem = await stored(
                "segment", segment_id, lambda: _read(store, episode_id, segment_id, config)
            )
        return _detail(request.url.path, row, config, found, capture, problem)

    @router.get("/{episode_id}/{segment_id}/steps", operation_id="get_segment_steps")
    async def get_steps(episode_id: EpisodeId, segment_id: SegmentId) -> SegmentSteps:
        """State and rewards of every emulator step."""
        async with reads:
            return await stored(
                "segment", segment_id, lambda: _read_steps(store, episode_id, segment_id)
            )


def _row(state: HudState, segment_id: str) -> SegmentRow | None:
    row = state.segments.get(segment_id)
    if row is None or row.reward_model_version is None:
        return row
    version = row.reward_model_version
    peers = [each for each in state.segments.listing() if each.reward_model_version == version]
    return next((each for each in with_gaps(peers) if each.segment_id == segment_id), row)


def _read(
    store: ObjectStore, episode_id: str, segment_id: str, judge_config: str | None
) -> tuple[StoredSegment, CaptureView | None, str | None]:
    found = read_segment(store, episode_id, segment_id, judge_config)
    try:
        capture = read_capture(store, found.manifest)
        names = detail.room_names(read_states(store, found.manifest))
    except UnreadableObjectError as error:
        return found, None, str(error)
    return found, detail.capture_view(capture, names), None


def _read_steps(store: ObjectStore, episode_id: str, segment_id: str) -> SegmentSteps:
    manifest = read_manifest(store, episode_id, segment_id)
    states = read_states(store, manifest)
    try:
        pay = read_capture(store, manifest).pay
    except UnreadableObjectError as error:
        told = detail.steps(segment_id, states, None)
        return told.model_copy(update={"pay_problem": str(error)})
    return detail.steps(segment_id, states, pay)


def _detail(
    path: str,
    row: SegmentRow | None,
    judge_config: str | None,
    found: StoredSegment,
    capture: CaptureView | None,
    capture_problem: str | None,
) -> SegmentDetail:
    score, manifest = found.score, found.manifest
    return SegmentDetail(
        segment=row,
        manifest=manifest,
        score=score_detail(score) if score else None,
        score_problem=found.score_problem,
        pictures=tuple(
            PictureLink(step=step, url=f"{path}/frames/{name}")
            for name, step in picture_names(manifest)
        ),
        judge_config=judge_config,
        weighted=score.weighted if score else None,
        rubric=detail.rubric(score) if score else (),
        judges=detail.judge_cards(score) if score else (),
        capture=capture,
        capture_problem=capture_problem,
        pictures_are="every step" if manifest.film else "some steps",
        video_url=f"{path}/video.webp" if manifest.film else None,
    )


def _bytes_of(media_type: str, what: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {}}, "description": what}}


def _add_pictures(router: APIRouter, store: ObjectStore, reads: asyncio.Semaphore) -> None:
    @router.get(
        "/{episode_id}/{segment_id}/frames/{name}",
        operation_id="get_picture",
        response_class=Response,
        responses=_bytes_of("image/png", "The picture."),
    )
    async def get_picture(
        request: Request, episode_id: EpisodeId, segment_id: SegmentId, name: PictureName
    ) -> Response:
        """One picture of a segment; it never changes."""
        png = await stored(
            "picture", name, lambda: read_picture(store, episode_id, segment_id, name)
        )
        return immutable(request, png, "image/png")

    @router.get(
        "/{episode_id}/{segment_id}/pack",
        operation_id="get_segment_pack",
        response_class=Response,
        responses=_bytes_of(MEDIA_TYPE, "Index and pictures: `rlaif.contracts.game.films`."),
    )
    async def get_pack(request: Request, episode_id: EpisodeId, segment_id: SegmentId) -> Response:
        """All pictures of a segment in one object."""
        film = await _film(store, reads, episode_id, segment_id)
        return immutable(request, film, MEDIA_TYPE)

    @router.get(
        "/{episode_id}/{segment_id}/video.webp",
        operation_id="get_segment_video",
        response_class=Response,
        responses=_bytes_of("image/webp", "An animation, lossless."),
    )
    async def get_video(request: Request, episode_id: EpisodeId, segment_id: SegmentId) -> Response:
        """The segment as an animated, lossless WebP file."""
        film = await _film(store, reads, episode_id, segment_id)
        try:
            video = await asyncio.to_thread(lambda: animation(*unpack_film(film)))
        except FilmError as error:
            raise Problem(
                404, "no-video", "No video", f"No video of this segment: {error}."
            ) from error
        return immutable(request, video, "image/webp", file_name=f"{segment_id}.webp")


async def _film(
    store: ObjectStore, reads: asyncio.Semaphore, episode_id: str, segment_id: str
) -> bytes:
    async with reads:
        return await stored(
            "segment",
            segment_id,
            lambda: read_film(store, read_manifest(store, episode_id, segment_id)),
        )
