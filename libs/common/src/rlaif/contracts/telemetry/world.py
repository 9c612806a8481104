"""Rooms of the game's world that a run has visited.

A room is named by its map group and its number. Counts are of all environments of the run.
"""

from typing import Annotated

from pydantic import Field

from rlaif.contracts.model import Contract, Id

MAX_ROOMS = 512
"""That are reported; a room takes 300 bytes at most, and NATS takes 1 MB."""

SEGMENTS_OF_A_ROOM = 5

LONG_STAY_FRAMES = 3600
"""A minute of the game: who has not left a room by then found nothing new to do for long."""

NAME_CHARACTERS = 48

Count = Annotated[int, Field(ge=0)]
Byte = Annotated[int, Field(ge=0, le=255)]


class SegmentName(Contract):
    """A captured segment, by the names under which it is stored."""

    episode_id: Id
    segment_id: Id


class RoomSeen(Contract):
    """One room: where it lies, what it is called, what happened there."""

    group: Byte
    room: Byte
    name: str | None = Field(
        default=None,
        max_length=NAME_CHARACTERS,
        description="What the game, or its story, calls it; null when nothing is known.",
    )
    dungeon: Byte | None = Field(default=None, description="Null outside of dungeons.")
    floor: Byte | None = Field(
        default=None, description="Of the dungeon's own map; null where that does not show it."
    )
    column: Byte | None = Field(default=None, description="On that map; null likewise.")
    line: Byte | None = Field(default=None, description="On that map, from the top.")
    width: Annotated[int, Field(ge=16, le=256)] = Field(default=160, description="Pixels.")
    height: Annotated[int, Field(ge=16, le=256)] = Field(default=128, description="Pixels.")
    entries: Count = Field(description="Times that a player came in, or began an episode there.")
    frames: Count = Field(description="Game frames at 60 Hz that players were there.")
    deaths: Count = Field(description="Times that a player died there.")
    long_stays: Count = Field(
        description="Stays of a minute of the game or more; each counts once, however long."
    )
    calls: Count = Field(
        description="Questions that a language model which plays along was asked there."
    )
    last_step: Count = Field(
        description="Environment steps of the run, to the iteration, when a player was there last."
    )
    picture: bool = Field(default=False, description="Whether the trainer kept a picture of it.")
    picture_left: Byte = Field(default=0, description="Where in the room it begins, in pixels.")
    picture_top: Byte = 0
    segments: tuple[SegmentName, ...] = Field(
        default=(),
        max_length=SEGMENTS_OF_A_ROOM,
        description="The newest captured segments that pass through it, the newest first.",
    )


class WorldFigures(Contract):
    """The rooms that a run has seen, those first in which players were last."""

    rooms: tuple[RoomSeen, ...] = Field(default=(), max_length=MAX_ROOMS)
    rooms_left_out: Count = Field(default=0, description="Further ones that are not reported.")
