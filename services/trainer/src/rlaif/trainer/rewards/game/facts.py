"""The state of the game on which rewards depend: plain numbers and bit sets."""

from typing import Any, Final, NamedTuple

AREAS: Final = 4
AREA_OF_GROUP: Final = (0, 1, 1, 1, 2, 3, 2, 3)
"""By map group, 0 to 7."""

GROUP_OF_AREA: Final = (0, 1, 4, 5)
"""The group that represents an area."""

ROOMS: Final = AREAS * 256
COLUMNS: Final = 16
LINES: Final = 16
"""Squares per axis of a room. A large room has 15 by 11; positions are bytes, so 16 suffice."""

SQUARES_A_ROOM: Final = COLUMNS * LINES
SQUARES: Final = ROOMS * SQUARES_A_ROOM
"""262,144."""


def room_index(group: int, room: int) -> int:
    """The number of a room, 0 to 1,023; groups above 7 wrap, as in the game."""
    return AREA_OF_GROUP[group & 7] << 8 | room


def square_index(group: int, room: int, x: int, y: int) -> int:
    """The number of the square at a pixel of a room, 0 to 262,143."""
    return (AREA_OF_GROUP[group & 7] << 8 | room) << 8 | y & 0xF0 | x >> 4


def place_of(square: int) -> tuple[int, int, int, int]:
    """(group, room, column, line) of a square's number; the group stands for its area."""
    room, cell = divmod(square, SQUARES_A_ROOM)
    return GROUP_OF_AREA[room >> 8], room & 0xFF, cell % COLUMNS, cell // COLUMNS


class Progress(NamedTuple):
    """The rewarded part of the save file, which changes rarely.

    Attributes:
        items: Bit set: treasures, boss keys, compasses, maps, seasons.
        events: Bit set: chests opened, doors, gates, bosses, story flags.
        essences: Bit set of the eight.
        keys: Small keys held, one byte per dungeon.
        rupees: 0 to 999.
        source: The bytes that it was read from, to detect changes.
    """

    items: int
    events: int
    essences: int
    keys: bytes
    rupees: int
    source: bytes = b""


class GameFacts(NamedTuple):
    """One state of the game.

    Attributes:
        x, y: Pixels inside the room.
        health: Quarter hearts.
        running: Whether a file is being played; else the other fields are meaningless.
        settled: The room has been entered: group, room and position are consistent.
        control: Buttons have an effect.
        menu: A menu is open.
        text: Text is on screen.
        dead: The player is dying.
        progress: The same object as in the previous step if nothing in it changed.
    """

    group: int
    room: int
    x: int
    y: int
    health: int
    running: bool
    settled: bool
    control: bool
    menu: bool
    text: bool
    dead: bool
    progress: Progress

    def plain(self) -> tuple[Any, ...]:
        return (*self[:-1], tuple(self.progress))

    @staticmethod
    def of(plain: tuple[Any, ...], shared: Progress | None = None) -> "GameFacts":
        """Restore from `plain`; with `shared` as its progress if that is equal."""
        *others, fields = plain
        progress = Progress(*fields)
        if shared is not None and shared == progress:
            progress = shared
        return GameFacts._make([*others, progress])

    def moved_to(self, x: int, y: int) -> "GameFacts":
        """The same state elsewhere in the room; `_replace` takes six times as long."""
        return _new(GameFacts, (self[0], self[1], x, y, *self[4:]))

    def is_near(self, other: "GameFacts") -> bool:
        """Whether everything except the position inside the square is the same."""
        return (
            self[4:] == other[4:]
            and self[:2] == other[:2]
            and self[2] >> 4 == other[2] >> 4
            and self[3] >> 4 == other[3] >> 4
        )

    @property
    def room_index(self) -> int:
        return room_index(self.group, self.room)

    @property
    def square_index(self) -> int:
        return square_index(self.group, self.room, self.x, self.y)


_new = tuple.__new__
