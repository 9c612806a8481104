"""Milestones found by a search of the built-in game, from its tree.

The search does not use milestones; here they are derived from its nodes.
"""

import numpy as np

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import ROOM_VISITED, address, room_flags_page
from rlaif.game.stories.milestones import Story
from rlaif.trainer.search.tree import Node, Tree

_SETS = {
    "treasure": "wObtainedTreasureFlags",
    "essence": "wEssencesObtained",
    "boss_key": "wDungeonBossKeys",
    "compass": "wDungeonCompasses",
    "map": "wDungeonMaps",
}
_PAGES = {"0": 0xC700, "1": 0xC800, "4": 0xC900, "5": 0xCA00}
_ROOT_CAVE, _ROOT_CAVE_GROUP = 1, 4


def shown(marks: frozenset[str], rooms: frozenset[int]) -> RamBlocks:
    """Return RAM with only these flags and visits."""
    wram = bytearray(0x2000)

    def set_bits(where: int, bits: int) -> None:
        wram[where - 0xC000] |= bits

    for mark in marks:
        name, *rest = mark.split(":")
        if name in _SETS:
            bit = int(rest[0], 16)
            set_bits(address(_SETS[name]) + bit // 8, 1 << bit % 8)
        elif name == "room":
            set_bits(_PAGES[rest[0]] + int(rest[1], 16), int(rest[2], 16))
    for room in rooms:
        set_bits(room_flags_page(room >> 8) + (room & 0xFF), ROOM_VISITED)
        if room >> 8 == _ROOT_CAVE_GROUP:
            set_bits(address("wDungeonVisitedFloors") + _ROOT_CAVE, 1)
    return RamBlocks(bytes(wram))


class Findings:
    """Return the milestones of every node's trajectory."""

    def __init__(self, tree: Tree, story: Story) -> None:
        self.story = story
        self.main = [m.name for m in story.milestones if m.is_main]
        self.names = [m.name for m in story.milestones]
        self.first: dict[str, Node] = {}
        self.best: tuple[int, Node | None] = (-1, None)
        self.of_node: dict[int | None, frozenset[str]] = {None: frozenset()}
        self._rooms: dict[int | None, frozenset[int]] = {None: frozenset()}
        self._seen: dict[tuple[frozenset[str], frozenset[int]], frozenset[str]] = {}
        for node in tree.nodes():
            self._take_in(node)

    def _take_in(self, node: Node) -> None:
        above = self._rooms[node.parent]
        rooms = above if node.room in above else above | {node.room}
        self._rooms[node.id] = rooms
        key = (node.marks, rooms)
        if key not in self._seen:
            hits = self.story.hits(shown(*key))
            self._seen[key] = frozenset(self.names[i] for i in np.flatnonzero(hits))
        reached = self.of_node[node.id] = self._seen[key] | self.of_node[node.parent]
        for name in reached - set(self.first):
            self.first[name] = node
        count = len(reached & set(self.main))
        if count > self.best[0]:
            self.best = count, node
