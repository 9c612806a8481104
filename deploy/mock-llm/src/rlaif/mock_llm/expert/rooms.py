"""The expert's map of Seedling Vale: every room as 8 rows of 10 tiles, and the doors between them.

A tile is 16 pixels. Rooms are `group/room` as in the evidence, both decimal. Above ground (group 0)
the room above is 16 less and the one to the right 1 more; in Root Cave (group 4) it is 8 and 1. The
other rooms are single ones. Two neighbours are connected where both are open at their edge. The
signs of `rooms.txt`:

    .  open ground                      #  never open              n  a person
    >  a door or the mouth of a cave    u  a stump, where the rod changes the season
    b  bush: blade                      o  stone or pot: bracelet  t  dry bush: satchel
    c  cracked wall: bombs              ~  deep water: flippers    h  hole: feather, to jump over
    K  keyhole: gnarled key             v  vine: summer            y  bud: spring
    w  pond: winter, or flippers        d  drift: winter, shovel   m  toadstool: autumn, bracelet
    p  pit: autumn, or feather          x  blocks that the lever of Hop Hall lowers
    1  north door of the entrance, 2 door of the Stone Vault, 3 thorn door, 4 shutter behind Gnarl
"""

from importlib import resources
from types import MappingProxyType

Tile = tuple[int, int]
"""(row, column)."""
Spot = tuple[str, Tile]
"""A tile of a room."""

ROWS, COLUMNS = 8, 10
TILE = 16
"""Pixels."""
AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""(rows, columns) to the four neighbours of a tile."""


def _read_rooms() -> dict[str, tuple[str, tuple[str, ...]]]:
    text = (resources.files(__package__) / "rooms.txt").read_text(encoding="utf-8")
    found = {}
    for block in text.strip().split("\n\n"):
        title, *rows = block.splitlines()
        room, name = title.split(" ", 1)
        found[room] = (name, tuple(rows))
    return found


_ROOMS = _read_rooms()

NAMES = MappingProxyType({room: name for room, (name, _) in _ROOMS.items()})
"""Room → its name in the game."""
PLANS = MappingProxyType({room: rows for room, (_, rows) in _ROOMS.items()})
"""Room → its tiles, row by row."""

_ARRIVAL = (6, 4)
_EXITS = ((7, 4), (7, 5))
_DOORS: tuple[tuple[Spot, str, Tile], ...] = (
    (("0/119", (3, 2)), "3/16", (4, 2)),
    (("0/119", (3, 7)), "3/17", (4, 7)),
    (("0/135", (3, 2)), "3/18", (4, 2)),
    (("0/104", (1, 4)), "5/161", (2, 4)),
    (("0/88", (0, 6)), "5/180", (1, 6)),
    (("0/136", (1, 5)), "5/199", (2, 5)),
    (("0/89", (1, 4)), "4/28", (2, 4)),
)
"""A door, the room behind it, and the tile in front of the door at which one leaves that room."""

PASSAGES = MappingProxyType(
    {door: (inside, _ARRIVAL) for door, inside, _ in _DOORS}
    | {(inside, tile): (door[0], before) for door, inside, before in _DOORS for tile in _EXITS}
)
"""Tile of a door or an exit → the tile to which it leads."""
