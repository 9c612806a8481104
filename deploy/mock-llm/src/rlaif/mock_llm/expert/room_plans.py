"""The expert's map of Seedling Vale: every room as 8 rows of 10 tiles, and the doors between them.

A tile is 16 pixels. Rooms are `group/room` as in the evidence, both decimal. Above the ground (0)
the room above is 16 less and the one to the right 1 more; in Root Cave (4) it is 8 and 1. The other
rooms are single ones. Over an edge one walks wherever it is open on both sides.

    .  open ground                      #  closed for good        n  somebody stands there
    >  a door or the mouth of a cave    u  a stump, where the rod turns the season
    b  bush: blade                      o  stone or pot: bracelet  t  dry bush: satchel
    c  cracked wall: bombs              ~  deep water: flippers    h  hole: feather, to jump over
    K  keyhole: gnarled key             v  vine: summer            y  bud: spring
    w  pond: winter, or flippers        d  drift: winter, shovel   m  toadstool: autumn, bracelet
    p  pit: autumn, or feather          x  blocks that the lever of Hop Hall lowers
    1  north door of the entrance, 2 door of the Stone Vault, 3 thorn door, 4 shutter behind Gnarl
"""

from types import MappingProxyType

Tile = tuple[int, int]
"""(row, column)."""

Spot = tuple[str, Tile]
"""A tile of a room."""

ROWS, COLUMNS = 8, 10

_DRAWN = """
0/86 Frost Hollow
##########
##########
##########
##.p.....#
#..p.#...#
#..p.....#
####.....#
######..##

0/87 Vine Cliff
##########
#.........
#.........
###vv#####
###vv#####
#.#.....##
#........#
#######..#

0/88 Windy Ridge
######>###
.........#
.........#
#.#.....##
#........#
##..#....#
##########
##########

0/89 Root Gate
##########
####K#####
##.....###
#.....#..#
##......##
#........#
#........#
####..####

0/102 Old Orchard
######..##
#..###dd.#
#..#.#..b#
#...b....#
#.b.......
#b........
#........#
##..######

0/103 Mirror Pond
#######..#
#wwwwww..#
#www#ww..#
#www.ww..#
..wwwww..#
.....n...#
#.#u.....#
####..####

0/104 Stone Stair
##########
####c#####
#......#.#
#.........
#.........
#.......b#
#b.....#.#
####..####

0/105 Blossom Way
####..####
#..#yy#..#
#..#..#..#
.........#
.......u.#
#........#
#.#......#
##########

0/118 West Meadow
##..######
#........#
#....b...#
#....bb..#
#....b....
#..b......
#..b.....#
##########

0/119 Seedling
####..####
####bb####
####..####
##>#..#>##
.b......b.
.b.#..#.b.
#.n......#
#####..###

0/120 East Field
####..####
####.....#
#..#.....#
#..#.....#
...n......
..........
#.u...b..#
##########

0/121 Reed Lake
##########
#.#wwwww##
#.#~~~~~##
#..~~~~~w#
...~~~~~~#
...~~~~~~#
#.##~~~###
####~~~###

0/134 Mossy Wood
##########
###....###
##......##
#........#
#.#...#...
#..u......
##......##
##########

0/135 South Lane
#####..###
#####....#
#####....#
##>##....#
.o......m.
.o.#..u.m.
#........#
##########

0/136 Dry Hollow
##########
#####>####
##.tttt.##
#....t...#
.........#
......#..#
##......##
##########

0/137 Lake Isle
####~~~###
##~~~~~~~#
#~~....~~#
#~..#...~#
#~......~#
#~~....~~#
##~~~~~~~#
##########

3/16 Fern's House
##########
##########
#....n...#
##......##
#........#
##......##
#o.......#
####>>####

3/17 Nut Shop
##########
##########
##..n...##
#.#####..#
#........#
#........#
#o......o#
####>>####

3/18 Sorrel's Hut
##########
##########
##..n...##
#........#
##......##
#........#
#o......##
####>>####

5/161 Quarry Cave
##########
##......##
#...#....#
#.#....#.#
#........#
##......##
###....###
####>>####

5/180 Windy Cave
##########
##.h...#.#
#..h.....#
#..h..##.#
#..h.....#
##.h....##
####...###
####>>####

5/199 Ember Cave
##########
##......##
#.#.#..#.#
#........#
#.#....#.#
##......##
###....###
####>>####

4/4 Seed Hall
##########
##......##
#........#
##......##
#........#
##......##
#........#
####.#####

4/12 Gnarl's Den
####4#####
##......##
#........#
#........#
#........#
#........#
##......##
####.#####

4/19 Torch Hall
##########
##.o..o.##
#........#
#..#..#...
#.........
#..#..#..#
##.o..o.##
##########

4/20 Cross Hall
####3#####
##.#.##.##
##......##
.x.......2
.x.......#
##......##
##.#..#.##
####.#####

4/21 Stone Vault
##########
#o##.#.oo#
#.#..#..o#
..##c#...#
#........#
#.#....#.#
##......##
##########

4/27 Button Room
##########
##..#...##
#.#...#..#
#..#......
#.........
#.#...#..#
##.....oo#
##########

4/28 Root Cave
####1#####
##......##
#.##..##.#
..........
..........
#.##..##.#
#........#
####>>####

4/29 Hop Hall
##########
#...h.#h##
#...h..h.#
....h..h.#
....h..h.#
#...h..h.#
##..h..h##
##########
"""


def _rooms(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    found = {}
    for block in text.strip().split("\n\n"):
        title, *rows = block.splitlines()
        room, name = title.split(" ", 1)
        found[room] = (name, tuple(rows))
    return found


_NAMED = _rooms(_DRAWN)

NAMES = MappingProxyType({room: name for room, (name, _) in _NAMED.items()})
"""Room → what the game calls it."""

PLANS = MappingProxyType({room: rows for room, (_, rows) in _NAMED.items()})
"""Room → its tiles, row by row."""

_INSIDE = (6, 4)
_MATS = ((7, 4), (7, 5))
"""Where one arrives behind a door, and the tiles that lead out again."""

_DOORS: tuple[tuple[Spot, str, Tile], ...] = (
    (("0/119", (3, 2)), "3/16", (4, 2)),
    (("0/119", (3, 7)), "3/17", (4, 7)),
    (("0/135", (3, 2)), "3/18", (4, 2)),
    (("0/104", (1, 4)), "5/161", (2, 4)),
    (("0/88", (0, 6)), "5/180", (1, 6)),
    (("0/136", (1, 5)), "5/199", (2, 5)),
    (("0/89", (1, 4)), "4/28", (2, 4)),
)
"""A door, the room behind it, and the tile before the door where one comes out."""


def _passages() -> dict[Spot, Spot]:
    ways = {}
    for door, inside, before in _DOORS:
        ways[door] = (inside, _INSIDE)
        ways.update({(inside, mat): (door[0], before) for mat in _MATS})
    return ways


PASSAGES = MappingProxyType(_passages())
"""Tile that leads elsewhere → where one arrives."""
