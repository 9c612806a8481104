"""Who and what is in the room with the player: RAM in, people, items and enemies out."""

from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import (
    INTERACTION_TREASURE,
    PART_ITEM_DROP,
    Entity,
    enemies,
    interactions,
    parts,
    player_position,
    talkables,
)
from rlaif.game.memory.names import DROP_NAMES
from rlaif.game.navigation.terrain import TILE


class Seen(NamedTuple):
    """Something in the room: what it is, its mark on the map, its tile."""

    name: str
    mark: str
    column: int
    row: int


def surroundings(ram: RamBlocks, *, size: tuple[int, int]) -> list[Seen]:
    """What is in a room of (columns, rows), the nearest first; each object once.

    A treasure that answers A, such as a shop's, is a person or thing that answers A.
    """
    x, y = player_position(ram)
    kinds = [("enemy", "E", entity) for entity in enemies(ram)]
    kinds += [("answers A", "P", entity) for entity in talkables(ram)]
    kinds += [
        (DROP_NAMES.get(part.subid, "item"), "I", part)
        for part in parts(ram)
        if part.id == PART_ITEM_DROP
    ]
    kinds += [
        ("treasure", "I", each) for each in interactions(ram) if each.id == INTERACTION_TREASURE
    ]
    first: dict[int, tuple[str, str, Entity]] = {}
    for kind in kinds:
        first.setdefault(kind[2].slot, kind)
    near = sorted(first.values(), key=lambda each: _distance(each[2], x, y))
    seen = [Seen(name, mark, each.x // TILE, each.y // TILE) for name, mark, each in near]
    columns, rows = size
    return [each for each in seen if each.column < columns and each.row < rows]


def _distance(entity: Entity, x: int, y: int) -> tuple[int, int]:
    return (entity.x - x) ** 2 + (entity.y - y) ** 2, entity.slot
