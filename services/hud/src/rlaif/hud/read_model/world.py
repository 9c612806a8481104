"""The visited rooms of the run and the positions of its players."""

from collections.abc import Callable
from datetime import datetime

from pydantic import Field

from rlaif.contracts.game.rates import FRAMES_PER_SECOND
from rlaif.contracts.model import Id
from rlaif.contracts.telemetry.readings import (
    EnvironmentsSeen,
    EnvironmentStands,
    RunnerSign,
    WorldProgress,
)
from rlaif.contracts.telemetry.world import RoomSeen
from rlaif.hud.read_model import View
from rlaif.hud.read_model.views import RunView

ROOM_PICTURES = "/api/v1/map/rooms"


class SegmentThere(View):
    """A captured segment that visits a room."""

    episode_id: Id
    segment_id: Id
    weighted: float | None = Field(description="Score; null if there is none, or it is unknown.")


class RoomOnMap(RoomSeen):
    """One visited room."""

    seconds: float = Field(description="`frames` at 60 Hz.")
    picture_url: str | None = Field(description="A PNG of 160x128; null without one.")
    segments: tuple[SegmentThere, ...] = Field(  # type: ignore[assignment]  # with their scores
        description="The newest segments that visit it, newest first."
    )


class MapOfRun(View):
    """The rooms that the run has visited; null fields before the first report."""

    run_id: Id | None = None
    at: datetime | None = Field(default=None, description="Trainer's clock.")
    received_at: datetime | None = Field(default=None, description="HUD clock.")
    rooms: tuple[RoomOnMap, ...] = Field(default=(), description="By the newest visit.")
    rooms_left_out: int | None = None


class Environments(View):
    """Positions of all players of the run, on all machines; null before the first report."""

    run_id: Id | None = None
    received_at: datetime | None = Field(default=None, description="HUD clock.")
    watched: Id | None = Field(description="The environment whose screen is shown.")
    runners: tuple[RunnerSign, ...] = ()
    environments: tuple[EnvironmentStands, ...] = ()
    left_out: int | None = Field(default=None, description="Number of omitted environments.")


ScoreOf = Callable[[str], float | None]
"""Segment → its score; None if there is none."""


class World:
    """The newest reading of each kind; those of another run are not shown."""

    def __init__(self) -> None:
        self._rooms: WorldProgress | None = None
        self._rooms_at: datetime | None = None
        self._names: dict[tuple[int, int], str] = {}
        self._positions: EnvironmentsSeen | None = None
        self._positions_at: datetime | None = None

    def reported(self, reading: WorldProgress, now: datetime) -> None:
        self._rooms, self._rooms_at = reading, now
        self._names = {
            (room.group, room.room): room.name for room in reading.rooms if room.name is not None
        }

    def stand(self, reading: EnvironmentsSeen, now: datetime) -> None:
        self._positions, self._positions_at = reading, now

    def name(self, group: int, room: int) -> str | None:
        return self._names.get((group, room))

    def knows(self, env: str) -> bool:
        found = self._positions.environments if self._positions else ()
        return any(each.env == env for each in found)

    def map(self, run: RunView | None, score_of: ScoreOf) -> MapOfRun:
        reading = self._rooms
        if reading is None or (run is not None and run.run_id != reading.run_id):
            return MapOfRun()
        return MapOfRun(
            run_id=reading.run_id,
            at=reading.at,
            received_at=self._rooms_at,
            rooms=tuple(_on_map(reading.run_id, room, score_of) for room in reading.rooms),
            rooms_left_out=reading.rooms_left_out,
        )

    def environments(self, run: RunView | None, watched: str | None) -> Environments:
        reading = self._positions
        if reading is None or (run is not None and run.run_id != reading.run_id):
            return Environments(watched=watched)
        return Environments(
            run_id=reading.run_id,
            received_at=self._positions_at,
            watched=watched,
            runners=reading.runners,
            environments=reading.environments,
            left_out=reading.left_out,
        )


def _on_map(run_id: str, room: RoomSeen, score_of: ScoreOf) -> RoomOnMap:
    url = f"{ROOM_PICTURES}/{run_id}/{room.group}/{room.room}.png" if room.picture else None
    segments = tuple(
        SegmentThere(**each.model_dump(), weighted=score_of(each.segment_id))
        for each in room.segments
    )
    return RoomOnMap(
        **{**dict(room), "segments": segments},
        seconds=room.frames / FRAMES_PER_SECOND,
        picture_url=url,
    )
