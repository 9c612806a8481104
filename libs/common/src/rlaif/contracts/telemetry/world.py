"""Rooms of the game's world that a run has visited.

A room is named by its map group and its number. Counts are of all environments of the run.
"""

from typing import Annotated

from pydantic import Field

from rlaif.contracts.model import Contract, Count, Id

MAX_ROOMS = 512
"""A room takes at most 300 bytes, and NATS allows 1 MB."""

SEGMENTS_OF_A_ROOM = 5

LONG_STAY_FRAMES = 3600
"""A minute of game time: longer stays rarely discover anything."""

NAME_CHARACTERS = 48

Byte = Annotated[int, Field(ge=0, le=255)]
Pixels = Annotated[int, Field(ge=16, le=256)]


class SegmentName(Contract):
    """Ids of a captured segment."""

    episode_id: Id
    segment_id: Id


class RoomSeen(Contract):
    """One room: its place, its name, and counts of visits."""

    group: Byte
    room: Byte
    name: str | None = Field(
        default=None,
        max_length=NAME_CHARACTERS,
        description="By the game or its story; null: unknown.",
    )
    dungeon: Byte | None = Field(default=None, description="Null outside of dungeons.")
    floor: Byte | None = Field(default=None, description="On the dungeon's map; null: not on it.")
    column: Byte | None = Field(default=None, description="On that map; null: not on it.")
    line: Byte | None = Field(default=None, description="Row on that map; null: not on it.")
    width: Pixels = Field(default=160, description="Pixels.")
    height: Pixels = Field(default=128, description="Pixels.")
    entries: Count = Field(description="Number of entries by a player and episode starts.")
    frames: Count = Field(description="Game frames at 60 Hz that players spent there.")
    deaths: Count = Field(description="Deaths there.")
    long_stays: Count = Field(
        description="Stays of a minute of the game or more; each counts once, however long."
    )
    calls: Count = Field(description="Requests to the assisting language model there.")
    last_step: Count = Field(
        description="Environment step of the run at the last visit, to the iteration."
    )
    picture: bool = Field(default=False, description="Whether the trainer stored a picture of it.")
    picture_left: Byte = Field(default=0, description="Left edge of the picture in the room.")
    picture_top: Byte = 0
    segments: tuple[SegmentName, ...] = Field(
        default=(),
        max_length=SEGMENTS_OF_A_ROOM,
        description="Newest captured segments that pass through it, newest first.",
    )


class WorldFigures(Contract):
    """The rooms visited by a run, most recent first."""

    rooms: tuple[RoomSeen, ...] = Field(default=(), max_length=MAX_ROOMS)
    rooms_left_out: Count = Field(default=0, description="Further rooms, not reported.")
