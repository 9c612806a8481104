"""The records of Seedling Vale, by which the expert judges, against the game that is played."""

from typing import Any

from rlaif.mock_llm.expert.world import World, world_of

FREE, WALL, HAZARD = 0x00, 0x0F, 0x10
"""Collision bytes of the cartridge."""

NOT_WALKED: set[tuple[str, str]] = {
    ("0/105", "0/104"), ("0/89", "0/105"), ("4/28", "0/89"), ("4/20", "4/28"), ("4/12", "4/20"),
    ("4/4", "4/12"),
}  # fmt: skip
"""Ways of the records on which the story never goes."""


def _vale() -> World:
    found = world_of("seedling-vale")
    assert found is not None
    return found


def _bytes(world: World, room: str, tile: tuple[int, int], season: str) -> set[int]:
    """Collision bytes that a tile may have."""
    ways = world.ways((room, tile))
    hidden = any(it.tile == tile and it.hidden for it in world.by_name[room].objects)
    if tile in world.by_name[room].solid or hidden or any(way.how == "lever" for way in ways):
        return {FREE, WALL}
    if any(way.how == "walk" and way.season in (None, season) for way in ways):
        return {FREE}
    return {HAZARD} if any(way.how in ("swim", "jump") for way in ways) else {WALL}


def test_every_tile_is_as_open_as_the_game_has_it_when_the_room_is_first_seen(
    walkthrough: list[Any],
) -> None:
    world = _vale()
    first: dict[str, Any] = {}
    for look in walkthrough:
        if look.control and not look.scrolling:
            first.setdefault(look.moment.room, look)
    assert set(first) == set(world.by_name)
    wrong = [
        (room, row, column, int(look.collisions[row, column]))
        for room, look in first.items()
        for row in range(8)
        for column in range(10)
        if look.collisions[row, column]
        not in _bytes(world, room, (row, column), look.moment.season)
    ]
    assert wrong == []


def test_every_crossing_that_is_walked_is_in_the_records(walkthrough: list[Any]) -> None:
    world = _vale()
    ways = {(spot[0], to[0]) for spot, to in world.passages.items()}
    ways |= {(room.room, to) for room in world.rooms for to in room.ways.values()}
    crossed: set[tuple[str, str]] = set()
    room = None
    for look in walkthrough:
        if look.game_over:
            room = None  # death takes the player elsewhere
        elif look.control and not look.scrolling:
            crossed |= {(room, look.moment.room)} if room not in (None, look.moment.room) else set()
            room = look.moment.room
    crossed.discard(("4/4", "0/119"))  # the end of the story takes the player home
    assert crossed <= ways
    assert ways - crossed == NOT_WALKED
