"""The lock-and-key graph of a world: regions, their locks and their contents.

Every region but the first is attached to an earlier one by a lock, and every lock needs only items
of earlier regions. The solver verifies this independently on the tables.
"""

import csv
from dataclasses import dataclass, field
from random import Random

from rlaif.game.worlds.tables import SEASONS, read_data

SIZES = (20, 30, 60, 120)
"""Tested numbers of rooms; any number in this range is supported."""
MIN_ROOMS, MAX_ROOMS = 20, 120

TOOLS = (
    "bombs", "shovel", "bracelet", "rod_of_seasons", "feather", "seed_satchel", "flippers",
)  # fmt: skip
_DUNGEON_SHARE, _DUNGEON = 0.27, (6, 26)
_EXTRAS = ("heart_container", "map", "compass", "heart_piece", "rupees")


@dataclass(frozen=True)
class Lock:
    """A lock of a passage."""

    name: str
    signs: str  # of its tiles, from the edge inwards
    needs: frozenset[str]
    season: int | None  # the only one in which it opens
    hint: str  # for signs and people


def _locks() -> dict[str, Lock]:
    rows = csv.DictReader(read_data("locks.csv").splitlines())
    return {
        row["name"]: Lock(
            row["name"],
            row["signs"],
            frozenset(row["needs"].split()),
            SEASONS.index(row["season"]) if row["season"] else None,
            row["hint"],
        )
        for row in rows
    }


LOCKS = _locks()
_OUTSIDE = [lock for lock in LOCKS.values() if lock.hint]


@dataclass
class Region:
    """Rooms that can be walked between once one has been reached."""

    index: int
    parent: int | None = None
    lock: Lock | None = None
    rooms: int = 1
    gives: list[str] = field(default_factory=list)
    home: str = "chest"  # how its item is found: chest, cave, gift, scene, shop


@dataclass
class Plan:
    """The regions and tools of a world, without positions; the last region has the keyhole."""

    regions: list[Region]
    tools: list[str]  # in the order in which they are found
    houses: int
    caves: int
    dungeon: list[Region]


def draw_plan(rng: Random, rooms: int) -> Plan:
    """Draw the locks and keys of a world with this number of rooms."""
    least, most = _DUNGEON
    deep = min(most, max(least, round(rooms * _DUNGEON_SHARE)))
    tools = _order(rng, rooms)
    houses = 2 + ("bombs" in tools) + (rooms > 45) + (rooms > 90) * 2
    caves = max(1, min(round(rooms * 0.1), len(tools) + 2))
    regions = _regions(rng, tools, rooms - deep - houses - caves)
    return Plan(regions, tools, houses, caves, _dungeon(rng, deep - 2, "bombs" in tools))


def _order(rng: Random, rooms: int) -> list[str]:
    """The tools in the order in which they are found, after the sword."""
    number = 3 if rooms < 25 else 5 if rooms < 30 else 6 if rooms < 40 else len(TOOLS)
    while True:
        found = rng.sample(TOOLS, number)
        used = {need for lock in _OUTSIDE if lock.needs <= {*found, "sword"} for need in lock.needs}
        if {*found} <= used:
            return found


def _regions(rng: Random, tools: list[str], rooms: int) -> list[Region]:
    """The regions: the first gives the sword, each further one a tool, the last but one the key."""
    regions = [Region(0, gives=["sword"], home="gift")]
    owned, unused = {"sword"}, ["sword"]
    gifts: list[str | None] = [*tools, "gnarled_key"]
    for _ in range(rooms // 7 - len(tools) - 2):
        gifts.insert(rng.randint(2, len(gifts) - 1), None)
    for gift in (*gifts, None):  # the last has the keyhole
        possible = [lock for lock in _OUTSIDE if lock.needs <= owned]
        fresh = [lock for lock in possible if lock.needs & {*unused}]
        best = [lock for lock in fresh if unused[0] in lock.needs]
        lock = rng.choice(best or fresh or possible)
        unused = [item for item in unused if item not in lock.needs]
        region = Region(len(regions), rng.choice(regions[-3:]).index, lock)
        regions.append(region)
        if gift is not None:
            region.gives, region.home = [gift], _home(rng, gift)
            owned.add(gift)
            unused += [gift] * (gift != "gnarled_key")
    if "bombs" not in tools:  # which a shop sells, with the shield
        regions[1].gives.insert(0, "shield")
    _share_out(rng, regions, rooms, first=3.0)
    return regions


def _home(rng: Random, gift: str) -> str:
    homes = {"bombs": "shop", "rod_of_seasons": "scene", "shovel": "gift"}
    return homes.get(gift) or rng.choice(("cave", "cave", "chest"))


def _dungeon(rng: Random, rooms: int, bombs: bool) -> list[Region]:
    """A chain of regions, each with the key of the next, so that no key can be wasted.

    Regions behind the lever and a cracked wall have extras only.
    """
    keys = 1 + (rooms > 7) + (rooms > 16)
    regions = [Region(0, rooms=2, gives=["small_key"])]
    for number in range(1, keys + 1):
        last = number == keys
        gives = ["boss_key" if last else "small_key"]
        regions.append(Region(number, number - 1, LOCKS["small key"], 1 + last, gives))
    for name in ("lever",) * (rooms > 6) + ("cracked wall",) * (rooms > 5 and bombs):
        regions.append(Region(len(regions), 0, LOCKS[name]))
    regions[0].rooms += rooms > 6  # for the lever
    _share_out(rng, regions[: keys + 1], rooms - len(regions[keys + 1 :]))
    free = {region.index: region.rooms - len(region.gives) for region in regions}
    free[0] -= 1 + (rooms > 6)  # the entrance and the lever
    free[keys] -= 1  # the room before the boss
    for extra in _EXTRAS:
        if places := [index for index, number in free.items() if number > 0]:
            index = places[-1] if places[-1] > keys else rng.choice(places)
            regions[index].gives.append(extra)
            free[index] -= 1
    return regions


def _share_out(rng: Random, regions: list[Region], rooms: int, first: float = 1.0) -> None:
    """Distribute rooms to the regions, small ones first; the first region gets more."""
    for _ in range(rooms - sum(region.rooms for region in regions)):
        weights = [(1.0 if region.index else first) / region.rooms for region in regions]
        rng.choices(regions, weights)[0].rooms += 1
