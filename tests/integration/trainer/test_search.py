"""The search on the built-in game: its ways are true, it repeats itself, it outlives a kill."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.starts.power_on import bring_to_control
from rlaif.testing.waiting import eventually
from rlaif.trainer.search.figures import Figures
from rlaif.trainer.search.opening import TREE, identity_of, open_search
from rlaif.trainer.search.replay import replay
from rlaif.trainer.search.search import SearchSettings
from rlaif.trainer.search.session import FRAMES as FRAMES_OF_A_STEP
from rlaif.trainer.search.tree import Node, Tree, TreeError, read_tree
from rlaif.trainer.search.worker import UntrueWayError

FRAMES = 40_000


@pytest.fixture(scope="module")
def cartridge() -> Cartridge:
    return load_cartridge()


def searched(
    folder: Path, cartridge: Cartridge, *, frames: int, workers: int = 0, **changes: Any
) -> Figures:
    settings = SearchSettings(seed=3, **changes)
    search = open_search(folder, cartridge, settings, workers=workers)
    for figures in search.run():
        if figures.frames >= frames:
            break
    search.close()
    return search.figures


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, cartridge: Cartridge) -> Iterator[Tree]:
    folder = tmp_path_factory.mktemp("search")
    searched(folder, cartridge, frames=FRAMES)
    with read_tree(folder / TREE) as tree:
        yield tree


def ends(tree: Tree) -> list[Node]:
    """The nodes farthest from power-on."""
    return sorted(tree.nodes(), key=lambda node: -node.frames)


def test_without_any_guide_it_finds_lasting_progress(found: Tree):
    marks = frozenset[str]().union(*(node.marks for node in found.nodes()))
    assert "treasure:5" in marks
    assert len({node.room for node in found.nodes()}) > 6


def test_played_again_from_power_on_every_way_gives_the_same_ram(found: Tree, cartridge: Cartridge):
    for end in ends(found)[:3]:
        emulator = PyBoyEmulator(cartridge.data)
        way = replay(found, end.id, emulator, cartridge)
        emulator.close()
        assert way[-1] == end
        assert sum(len(node.actions) for node in way) * 4 == end.frames


def test_decisions_and_buttons_of_a_node_are_of_the_same_length(found: Tree):
    for node in found.nodes():
        assert sum(steps for _, steps in node.decisions) == len(node.actions)


def test_every_decision_was_one_that_a_policy_may_make(found: Tree, cartridge: Cartridge):
    emulator = PyBoyEmulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    for node in found.lineage(ends(found)[0].id):
        at = 0
        for index, steps in node.decisions:
            assert allowed(read_blocks(emulator), "macros")[index], DECISIONS[index].name
            for action in decode_actions(node.actions[at : at + steps]):
                emulator.step(action, FRAMES_OF_A_STEP)
            at += steps
    emulator.close()


def test_a_changed_way_is_found_out(tmp_path: Path, cartridge: Cartridge):
    searched(tmp_path, cartridge, frames=1)
    tree = Tree(tmp_path / TREE, identity_of(cartridge))
    end = ends(tree)[0]
    swapped = end.actions.translate(str.maketrans("0123", "1032"))
    other = replace(end, id=tree.next_id, actions=swapped)
    tree.add(other)
    with pytest.raises(UntrueWayError, match=f"node {other.id}"):
        replay(tree, other.id, PyBoyEmulator(cartridge.data), cartridge)
    tree.close()


def test_the_same_seed_finds_the_same_ways(found: Tree, tmp_path: Path, cartridge: Cartridge):
    searched(tmp_path, cartridge, frames=FRAMES)
    with read_tree(tmp_path / TREE) as again:
        assert list(again.nodes()) == list(found.nodes())


def test_workers_share_what_they_find_in_one_tree(tmp_path: Path, cartridge: Cartridge):
    figures = searched(tmp_path, cartridge, frames=FRAMES, workers=2)
    with read_tree(tmp_path / TREE) as tree:
        cells = [cell for _, cell, *_ in tree.starts]
        assert len(cells) == len(set(cells)) == figures.cells
        end = ends(tree)[0]
        assert replay(tree, end.id, PyBoyEmulator(cartridge.data), cartridge)[-1] == end


def test_over_its_limit_it_drops_cells_and_keeps_whole_ways(tmp_path: Path, cartridge: Cartridge):
    figures = searched(tmp_path, cartridge, frames=FRAMES, most_cells=15)
    assert figures.cells <= 15
    with read_tree(tmp_path / TREE) as tree:
        assert len(tree) < figures.nodes  # of those it ever had
        for node, *_ in tree.starts:
            assert tree.lineage(node)[0].id == 0
            tree.state(tree.way_back(node)[0])


def test_a_search_that_was_killed_goes_on_with_what_it_had(tmp_path: Path, cartridge: Cartridge):
    command = [sys.executable, "-W", "ignore", "-m", "rlaif.trainer.search", "--out", str(tmp_path)]
    search = subprocess.Popen([*command, "--seed", "3"], start_new_session=True)
    try:
        asyncio.run(eventually(lambda: nodes(tmp_path) > 5, "nodes are committed", seconds=240))
    finally:
        os.killpg(search.pid, signal.SIGKILL)
        search.wait()
    before = nodes(tmp_path)
    with read_tree(tmp_path / TREE) as tree:
        assert all(tree.lineage(node.id)[0].id == 0 for node in tree.nodes())
    searched(tmp_path, cartridge, frames=200_000)
    with read_tree(tmp_path / TREE) as tree:
        assert len(tree) > before
        end = ends(tree)[0]
        assert replay(tree, end.id, PyBoyEmulator(cartridge.data), cartridge)[-1] == end


def nodes(folder: Path) -> int:
    """How many a search in another process has committed."""
    try:
        with read_tree(folder / TREE) as tree:
            return len(tree)
    except TreeError:
        return 0
