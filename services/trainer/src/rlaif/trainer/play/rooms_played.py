"""What happened in which room while a fragment was played: plain records.

A room is (group, number), as the game has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

Room = tuple[int, int]


@dataclass
class RoomTally:
    """Counts of one room; `rlaif.contracts.world_figures` says what they mean."""

    entries: int = 0
    frames: int = 0
    deaths: int = 0
    long_stays: int = 0
    calls: int = 0

    def add(self, other: "RoomTally") -> None:
        self.entries += other.entries
        self.frames += other.frames
        self.deaths += other.deaths
        self.long_stays += other.long_stays
        self.calls += other.calls


@dataclass(frozen=True)
class RoomPlace:
    """Where a room lies and what it is called; what is not known is None.

    Attributes:
        floor, column, line: On the map of its dungeon.
        width, height: Pixels.
    """

    name: str | None
    dungeon: int | None
    floor: int | None
    column: int | None
    line: int | None
    width: int
    height: int


@dataclass(frozen=True)
class RoomPicture:
    """What a room looks like.

    Attributes:
        png: Of the screen without its status bar, 160x128.
        left, top: Pixel of the room at which it begins.
    """

    png: bytes
    left: int
    top: int


@dataclass(frozen=True)
class PassedThrough:
    """The rooms through which a captured segment leads, in the order of first entry."""

    episode_id: str
    segment_id: str
    rooms: tuple[Room, ...]


@dataclass
class RoomsPlayed:
    """All of that, of the environments of one runner and one fragment."""

    tallies: dict[Room, RoomTally] = field(default_factory=dict)
    places: dict[Room, RoomPlace] = field(default_factory=dict)
    pictures: dict[Room, RoomPicture] = field(default_factory=dict)
    passed: list[PassedThrough] = field(default_factory=list)

    def tally(self, room: Room) -> RoomTally:
        return self.tallies.setdefault(room, RoomTally())

    def plain(self) -> dict[str, Any]:
        return {
            "tallies": _rows(self.tallies),
            "places": _rows(self.places),
            "pictures": _rows(self.pictures),
            "passed": [
                [each.episode_id, each.segment_id, [list(room) for room in each.rooms]]
                for each in self.passed
            ],
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "RoomsPlayed":
        return cls(
            tallies={room: RoomTally(*rest) for room, rest in _records(plain["tallies"])},
            places={room: RoomPlace(*rest) for room, rest in _records(plain["places"])},
            pictures={room: RoomPicture(*rest) for room, rest in _records(plain["pictures"])},
            passed=[
                PassedThrough(episode, segment, tuple((group, room) for group, room in rooms))
                for episode, segment, rooms in plain["passed"]
            ],
        )


def _rows(records: Mapping[Room, Any]) -> list[list[Any]]:
    return [[*room, *astuple(record)] for room, record in records.items()]


def _records(rows: Sequence[Sequence[Any]]) -> list[tuple[Room, Sequence[Any]]]:
    return [((row[0], row[1]), row[2:]) for row in rows]
