"""Milestones that a search of the built-in game found, from its tree.

    python -m rlaif.trainer.search --out DIR --seed 1 --workers 2 --minutes 45
    python benchmarks/search_report.py DIR [--replay] [--way FILE] [--pictures DIR]

The search knows no milestones; here its nodes are read with the story of the game. Prints when each
milestone was found first, in frames that were searched, how many the best single way has, and what
it lacks; `--replay` plays that way again from power-on and compares the RAM at every node,
`--way` writes its buttons and digests to a file, `--pictures` draws the states that are farthest.
Ends with one line of JSON.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.machine.pictures import png
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import ROOM_VISITED, address, room_flags_page
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.replay import replay
from rlaif.trainer.search.session import FRAMES
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
    parser.add_argument("--way", type=Path)
    parser.add_argument("--pictures", type=Path)
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
        if options.way:
            write_way(tree, best.id, cartridge.sha256, options.way)
        if options.pictures:
            draw(tree, options.pictures)
        print(json.dumps({
            "folder": options.folder.name, "nodes": len(tree), "milestones_best": count,
            "milestones_found": len(set(findings.first) & set(findings.main)),
            "essence": "essence" in findings.first, "missing": missing,
            "replayed": replayed,
            "first": {n: findings.first[n].found_at for n in findings.names if n in findings.first},
        }))  # fmt: skip
    return 0 if count == len(findings.main) else 1


def write_way(tree: Tree, node: int, rom_sha256: str, path: Path) -> None:
    """All buttons from power-on, base steps of four frames, and the RAM's digest at each node."""
    nodes = [
        {"frames": each.frames, "ram_sha256": each.digest, "actions": each.actions}
        for each in tree.lineage(node)
    ]
    told = {"rom_sha256": rom_sha256, "frame_skip": FRAMES, "nodes": nodes}
    path.write_text(json.dumps(told, indent=1) + "\n")


def draw(tree: Tree, folder: Path, most: int = 12) -> None:
    """The states of the highest levels as they look."""
    folder.mkdir(parents=True, exist_ok=True)
    cartridge = load_cartridge()
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    starts = sorted(tree.starts, key=lambda start: (-level_of(start.marks), start.node))
    for node, _, _, _, marks, strength, *_ in starts[:most]:
        base, actions = tree.nearest_state(node)
        emulator.load_state(tree.state(base))
        for action in decode_actions(actions):
            emulator.step(action, FRAMES)
        emulator.tick(1, render=True)
        name = f"{level_of(marks):05.2f}-{node}-{tree.node(node).room:03x}-{strength:.1f}.png"
        (folder / name).write_bytes(png(emulator.screen()))


if __name__ == "__main__":
    sys.exit(main())
