"""Milestones that a search of the built-in game found, from its tree.

    python -m rlaif.trainer.search --out DIR --seed 1 --workers 2 --minutes 45
    python benchmarks/search_report.py DIR [--replay]

The search knows no milestones; here its nodes are read with the game's story. Prints when each
milestone was found first, in searched frames, how many the best trajectory has, and what it lacks;
`--replay` plays that trajectory again from power-on and compares the RAM at every node. Ends with
one line of JSON.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import ROOM_VISITED, address, room_flags_page
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.replay import replay
from rlaif.trainer.search.tree import Node, Tree, read_tree

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
    """RAM that has these marks and visits and nothing else."""
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
    """The milestones of every node's way."""

    def __init__(self, tree: Tree, story: Story) -> None:
        self.story = story
        self.main = [m.name for m in story.milestones if m.is_main]
        self.names = [m.name for m in story.milestones]
        self.first: dict[str, Node] = {}
        self.best: tuple[int, Node | None] = (-1, None)
        self.of_node: dict[int, frozenset[str]] = {}
        self._rooms: dict[int, frozenset[int]] = {}
        self._seen: dict[tuple[frozenset[str], frozenset[int]], frozenset[str]] = {}
        for node in tree.nodes():
            self._take_in(node)

    def _take_in(self, node: Node) -> None:
        above = frozenset() if node.parent is None else self._rooms[node.parent]
        rooms = above if node.room in above else above | {node.room}
        self._rooms[node.id] = rooms
        key = (node.marks, rooms)
        if key not in self._seen:
            hits = self.story.hits(shown(*key))
            self._seen[key] = frozenset(self.names[i] for i in np.flatnonzero(hits))
        before = (
            self.of_node.get(node.parent, frozenset()) if node.parent is not None else frozenset()
        )
        reached = self.of_node[node.id] = self._seen[key] | before
        for name in reached - set(self.first):
            self.first[name] = node
        count = len(reached & set(self.main))
        if count > self.best[0]:
            self.best = count, node


def main(arguments: list[str] | None = None) -> int:
    """0 when a way to the last main milestone was found, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args(arguments)
    cartridge = load_cartridge()
    story = story_of(cartridge.game)
    with read_tree(options.folder / TREE) as tree:
        findings = Findings(tree, story)
        count, best = findings.best
        assert best is not None
        print(f"{'milestone':<20} {'M frames':>9} {'node':>7}")
        for name in findings.names:
            node = findings.first.get(name)
            found = f"{node.found_at / 1e6:9.3f} {node.id:7d}" if node else "        -"
            print(f"{name:<20} {found}{'' if name in findings.main else '  extra'}")
        reached = findings.of_node[best.id]
        missing = [name for name in findings.main if name not in reached]
        print(
            f"best way: node {best.id}, {count} of {len(findings.main)} main milestones, "
            f"{best.frames} frames of the game; without {', '.join(missing) or 'nothing'}"
        )
        replayed = None
        if options.replay:
            emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
            way = replay(tree, best.id, emulator, cartridge)
            replayed = len(milestones_reached(read_blocks(emulator), story))
            decisions = sum(len(each.decisions) for each in way)
            print(f"played again: {len(way)} nodes, {decisions} decisions, all digests agree")
        print(json.dumps({
            "folder": options.folder.name, "nodes": len(tree), "milestones_best": count,
            "milestones_found": len(set(findings.first) & set(findings.main)),
            "essence": "essence" in findings.first, "missing": missing,
            "replayed": replayed,
            "first": {n: findings.first[n].found_at for n in findings.names if n in findings.first},
        }))  # fmt: skip
    return 0 if count == len(findings.main) else 1


if __name__ == "__main__":
    sys.exit(main())
