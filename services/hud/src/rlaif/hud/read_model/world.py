"""What the run has seen of its world, and where all its players stand, as the trainer told last."""

from collections.abc import Callable
from datetime import datetime

from rlaif.contracts.telemetry import EnvironmentsSeen, WorldProgress
from rlaif.contracts.world_figures import RoomSeen
from rlaif.hud.read_model.views import RunView
from rlaif.hud.read_model.world_views import (
    Environments,
    MapOfRun,
    RoomOnMap,
    SegmentThere,
)

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

    def told(self, reading: WorldProgress, now: datetime) -> None:
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
