"""The JSON of the world: rooms, where all players stand, and whose screen is shown."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from rlaif.contracts.ids import Id
from rlaif.contracts.telemetry import EnvironmentStands, RunnerSign
from rlaif.contracts.world_figures import RoomSeen
from rlaif.hud.read_model.view import View


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


class Takeover(View):
    """The screen of another environment took the place of the one before."""

    at: datetime = Field(description="HUD clock.")
    env_step: int | None = Field(description="Environment steps of the run; null: not known.")
    left: Id
    taken: Id
    why: Literal["silent", "chosen"] = Field(
        description="The one before gave no sign of life for too long, or a person chose."
    )


class WatchView(View):
    """Whose screen is shown, and what becomes of that when it falls silent."""

    env: Id | None = Field(description="Whose screen is shown; null: none's yet.")
    chosen: Id | None = Field(description="Whose a person chose and is being waited for.")
    silent_since: datetime | None = Field(
        description="HUD clock: its last sign of life, once that is two seconds ago."
    )
    still_seconds: float | None = Field(
        description="It lives, but has not played for so long; null while it plays, or not known."
    )
    next: Id | None = Field(description="Who takes over if it stays silent; null: nobody is heard.")
    takes_over_at: datetime | None = Field(description="When; null while nobody does.")
    takeovers: tuple[Takeover, ...] = Field(description="The newest, oldest first.")
