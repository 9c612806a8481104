"""Where in its room the player is, in words: a position in pixels in, `north-west part` out.

A model that reads of the west edge knows which way leads on; from [9, 71] it has to work that out.
"""

from rlaif.contracts.evidence import Point

_SMALL, _LARGE = (160, 128), (240, 176)
"""Width and height of a room in pixels; a large one is followed by a camera."""

_AT_THE_EDGE = 16
"""So near to an edge in pixels, one tile, a player is about to leave or has just come in."""

_COLUMNS, _ROWS = ("west", "", "east"), ("north", "", "south")


def where_in_room(at: Point, *, large: bool) -> str:
    """The part of the room, one of nine, and the edges that the player is at."""
    sizes = _LARGE if large else _SMALL
    row, column = _third(_ROWS, at[1], sizes[1]), _third(_COLUMNS, at[0], sizes[0])
    part = "-".join(word for word in (row, column) if word) or "middle"
    edges = _edge(_ROWS, at[1], sizes[1]), _edge(_COLUMNS, at[0], sizes[0])
    near = " and ".join(word for word in edges if word)
    return f"{part} part, at the {near} edge" if near else f"{part} part"


def _third(words: tuple[str, str, str], at: int, size: int) -> str:
    return words[min(2, max(0, 3 * at // size))]


def _edge(words: tuple[str, str, str], at: int, size: int) -> str:
    if at < _AT_THE_EDGE:
        return words[0]
    return words[2] if at >= size - _AT_THE_EDGE else ""
