"""REST routes of the map: rooms with pictures, positions of all players, the screen shown."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.model import ID_PATTERN, Id
from rlaif.hud.broadcast import Broadcast
from rlaif.hud.read_model.views import WatchView
from rlaif.hud.read_model.world import Environments, MapOfRun
from rlaif.hud.routes.stored import NO_STORE, immutable, stored
from rlaif.service.problems import Problem
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

RunId = Annotated[str, Path(pattern=ID_PATTERN, description="Run.")]
Group = Annotated[int, Path(ge=0, le=255, description="Group of rooms of the map.")]
Room = Annotated[int, Path(ge=0, le=255, description="Number of the room in its group.")]


class WatchedEnvironment(BaseModel):
    """The environment to show."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"env": "2-0"}]}
    )

    env: Id = Field(description="As in `GET environments`.")


def world_router(broadcast: Broadcast, store: ObjectStore) -> APIRouter:
    """The routes of the map."""
    router = APIRouter(prefix="/api/v1", tags=["world"], dependencies=NO_STORE)
    _add_map(router, broadcast, store)
    _add_environments(router, broadcast)
    return router


def _add_map(router: APIRouter, broadcast: Broadcast, store: ObjectStore) -> None:
    @router.get("/map", operation_id="get_map")
    async def get_map() -> MapOfRun:
        """The rooms that the current run has visited."""
        return broadcast.state.map()

    @router.get(
        "/map/rooms/{run_id}/{group}/{room}.png",
        operation_id="get_room_picture",
        response_class=Response,
        responses={200: {"content": {"image/png": {}}, "description": "160x128 pixels."}},
    )
    async def get_room_picture(
        request: Request, run_id: RunId, group: Group, room: Room
    ) -> Response:
        """A room's picture from its first visit; immutable. 404 until the trainer has stored it."""

        def read() -> bytes:
            return store.get(keys.room_picture(run_id, group, room))

        png = await stored("picture", f"{group}-{room} of {run_id}", read)
        return immutable(request, png, "image/png")


def _add_environments(router: APIRouter, broadcast: Broadcast) -> None:
    @router.get("/environments", operation_id="list_environments")
    async def list_environments() -> Environments:
        """Every environment of the run, on any machine, as reported within the last second."""
        return broadcast.state.environments()

    @router.get("/watched", operation_id="get_watched")
    async def get_watched() -> WatchView:
        """The environment that is shown."""
        return broadcast.state.screen.watch()

    @router.post("/watched", operation_id="choose_watched")
    async def choose_watched(body: WatchedEnvironment) -> WatchView:
        """Show this environment's screen on all pages, as soon as the trainer has drawn it."""
        if not broadcast.state.world.knows(body.env):
            raise Problem(
                404,
                "environment-not-found",
                "Environment not found",
                f"The trainer reports no environment {body.env}; GET /api/v1/environments "
                "lists them.",
            )
        broadcast.select_screen(body.env)
        return broadcast.state.screen.watch()
