"""Which room and which square of it: the numbers that rewards and coverage count by.

A room is named by (area, room id). Areas are the four pages in which the game keeps its room flags:
groups 1, 2 and 3 share one set of rooms, so do 4 and 6, and 5 and 7 (7 is 5 seen from the side).
Counting by group would pay twice for one room, and would pay for a group byte that flips.
"""

from typing import Final

AREAS: Final = 4
AREA_OF_GROUP: Final = (0, 1, 1, 1, 2, 3, 2, 3)
"""By map group, 0 to 7."""

GROUP_OF_AREA: Final = (0, 1, 4, 5)
"""The group that stands for an area where one has to be shown."""

ROOMS: Final = AREAS * 256
SQUARE_PIXELS: Final = 16
"""Side of a square: one metatile."""

COLUMNS: Final = 16
LINES: Final = 16
"""Squares of a room each way. A large room has 15 by 11; positions are bytes, so 16 hold any."""

SQUARES_A_ROOM: Final = COLUMNS * LINES
SQUARES: Final = ROOMS * SQUARES_A_ROOM
"""262,144."""


def room_index(group: int, room: int) -> int:
    """The number of a room, 0 to 1,023; groups above 7 wrap, as the game does."""
    return AREA_OF_GROUP[group & 7] << 8 | room


def square_index(group: int, room: int, x: int, y: int) -> int:
    """The number of the square at a pixel of a room, 0 to 262,143."""
    return (AREA_OF_GROUP[group & 7] << 8 | room) << 8 | y & 0xF0 | x >> 4


def place_of(square: int) -> tuple[int, int, int, int]:
    """(group, room, column, line) of a square's number; the group stands for its area."""
    room, cell = divmod(square, SQUARES_A_ROOM)
    return GROUP_OF_AREA[room >> 8], room & 0xFF, cell % COLUMNS, cell // COLUMNS
