"""The rooms that the run has seen, and where its players are."""

from collections.abc import Callable
from datetime import datetime

from pydantic import Field

from rlaif.contracts.ids import Id
from rlaif.contracts.telemetry import EnvironmentsSeen, EnvironmentStands, RunnerSign, WorldProgress
from rlaif.contracts.world_figures import RoomSeen
from rlaif.hud.read_model.view import View
from rlaif.hud.read_model.views import RunView


class SegmentThere(View):
    """A captured segment that passes through a room."""

    episode_id: Id
    segment_id: Id
    weighted: float | None = Field(
        description="The judges' score; null when it has none, or the HUD does not know it."
    )


class RoomOnMap(RoomSeen):
    """One room that the run has seen."""

    seconds: float = Field(description="`frames` at 60 Hz.")
    picture_url: str | None = Field(description="A PNG of 160x128; null when none was taken.")
    segments: tuple[SegmentThere, ...] = Field(  # type: ignore[assignment]  # with their scores
        description="The newest captured segments that pass through it, the newest first."
    )


class MapOfRun(View):
    """The world, as far as the run has seen it."""

    run_id: Id | None = Field(description="Null until the trainer has told of the world.")
    at: datetime | None = Field(description="Trainer's clock; null likewise.")
    received_at: datetime | None = Field(description="HUD clock; null likewise.")
    rooms: tuple[RoomOnMap, ...] = Field(description="Those first in which players were last.")
    rooms_left_out: int | None = Field(description="More of them than are told; null likewise.")


class Environments(View):
    """Where all environments of the run stand, on whichever machines."""

    run_id: Id | None = Field(description="Null until the trainer has told.")
    received_at: datetime | None = Field(description="HUD clock; null likewise.")
    watched: Id | None = Field(description="Whose screen the page shows; null: none's.")
    runners: tuple[RunnerSign, ...]
    environments: tuple[EnvironmentStands, ...]
    left_out: int | None = Field(description="More environments than are told.")


FRAMES_A_SECOND = 60
ROOM_PICTURES = "/api/v1/map/rooms"

ScoreOf = Callable[[str], float | None]
"""Segment → its score, if it has one and is known."""


class World:
    """Keeps the newest reading of each kind; of another run than the current one, none."""

    def __init__(self) -> None:
        self._rooms: WorldProgress | None = None
        self._rooms_at: datetime | None = None
        self._names: dict[tuple[int, int], str] = {}
        self._stand: EnvironmentsSeen | None = None
        self._stand_at: datetime | None = None

    def reported(self, reading: WorldProgress, now: datetime) -> None:
        """The trainer told of the rooms."""
        self._rooms, self._rooms_at = reading, now
        self._names = {
            (room.group, room.room): room.name for room in reading.rooms if room.name is not None
        }

    def stand(self, reading: EnvironmentsSeen, now: datetime) -> None:
        """The trainer told where everybody stands."""
        self._stand, self._stand_at = reading, now

    def name(self, group: int, room: int) -> str | None:
        """What a room is called; None when nothing is known."""
        return self._names.get((group, room))

    def knows(self, env: str) -> bool:
        """Whether there is such an environment."""
        return self._stand is not None and any(each.env == env for each in self._stand.environments)

    def map(self, run: RunView | None, score_of: ScoreOf) -> MapOfRun:
        """The rooms of this run; of whichever was told while no run is known."""
        told = self._rooms
        if told is None or (run is not None and run.run_id != told.run_id):
            return MapOfRun(run_id=None, at=None, received_at=None, rooms=(), rooms_left_out=None)
        return MapOfRun(
            run_id=told.run_id,
            at=told.at,
            received_at=self._rooms_at,
            rooms=tuple(_on_map(told.run_id, room, score_of) for room in told.rooms),
            rooms_left_out=told.rooms_left_out,
        )

    def environments(self, run: RunView | None, watched: str | None) -> Environments:
        """Where everybody of this run stands."""
        told = self._stand
        if told is None or (run is not None and run.run_id != told.run_id):
            return Environments(
                run_id=None, received_at=None, watched=watched, runners=(), environments=(),
                left_out=None,
            )  # fmt: skip
        return Environments(
            run_id=told.run_id,
            received_at=self._stand_at,
            watched=watched,
            runners=told.runners,
            environments=told.environments,
            left_out=told.left_out,
        )


def _on_map(run_id: str, room: RoomSeen, score_of: ScoreOf) -> RoomOnMap:
    url = f"{ROOM_PICTURES}/{run_id}/{room.group}/{room.room}.png" if room.picture else None
    segments = tuple(
        SegmentThere(**each.model_dump(), weighted=score_of(each.segment_id))
        for each in room.segments
    )
    return RoomOnMap(
        **{**dict(room), "segments": segments},
        seconds=room.frames / FRAMES_A_SECOND,
        picture_url=url,
    )
