"""The search on the built-in game: verified trajectories, determinism, recovery after a kill."""

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
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.starts.power_on import bring_to_control
from rlaif.testing.waiting import eventually
from rlaif.trainer.search.opening import TREE, identity_of, open_search
from rlaif.trainer.search.replay import replay
from rlaif.trainer.search.search import Figures, SearchSettings
from rlaif.trainer.search.session import play_step
from rlaif.trainer.search.tree import Node, Tree, TreeError, read_tree
from rlaif.trainer.search.worker import ReplayMismatchError

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


def test_the_search_finds_flags_without_hints(found: Tree):
    marks = frozenset[str]().union(*(node.marks for node in found.nodes()))
    assert "treasure:5" in marks
    assert len({node.room for node in found.nodes()}) > 6


def test_replay_from_power_on_gives_equal_ram_for_every_node(found: Tree, cartridge: Cartridge):
    for end in ends(found)[:3]:
        emulator = Emulator(cartridge.data)
        way = replay(found, end.id, emulator, cartridge)
        emulator.close()
        assert way[-1] == end


def test_decisions_and_buttons_of_a_node_are_of_the_same_length(found: Tree):
    for node in found.nodes():
        assert sum(steps for _, steps in node.decisions) == len(node.actions)


def test_every_decision_was_allowed_by_the_action_mask(found: Tree, cartridge: Cartridge):
    emulator = Emulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    for node in found.lineage(ends(found)[0].id):
        at = 0
        for index, steps in node.decisions:
            assert allowed(read_blocks(emulator), "macros")[index], DECISIONS[index].name
            for action in decode_actions(node.actions[at : at + steps]):
                play_step(emulator, action)
            at += steps
    emulator.close()


def test_a_changed_trajectory_is_detected(tmp_path: Path, cartridge: Cartridge):
    searched(tmp_path, cartridge, frames=1)
    tree = Tree(tmp_path / TREE, identity_of(cartridge))
    end = ends(tree)[0]
    swapped = end.actions.translate(str.maketrans("0123", "1032"))
    other = replace(end, id=tree.next_id, actions=swapped)
    tree.add(other)
    with pytest.raises(ReplayMismatchError, match=f"node {other.id}"):
        replay(tree, other.id, Emulator(cartridge.data), cartridge)
    tree.close()


def test_equal_seeds_find_equal_trajectories(found: Tree, tmp_path: Path, cartridge: Cartridge):
    searched(tmp_path, cartridge, frames=FRAMES)
    with read_tree(tmp_path / TREE) as again:
        assert list(again.nodes()) == list(found.nodes())


def test_workers_share_what_they_find_in_one_tree(tmp_path: Path, cartridge: Cartridge):
    figures = searched(tmp_path, cartridge, frames=FRAMES, workers=2)
    with read_tree(tmp_path / TREE) as tree:
        cells = [cell for _, cell, *_ in tree.starts]
        assert len(cells) == len(set(cells)) == figures.cells
        end = ends(tree)[0]
        assert replay(tree, end.id, Emulator(cartridge.data), cartridge)[-1] == end


def test_above_its_limit_cells_are_dropped_and_trajectories_stay_complete(
    tmp_path: Path, cartridge: Cartridge
):
    figures = searched(tmp_path, cartridge, frames=FRAMES, max_cells=15)
    assert figures.cells <= 15
    with read_tree(tmp_path / TREE) as tree:
        assert len(tree) < figures.nodes  # of those it ever had
        for node, *_ in tree.starts:
            assert tree.lineage(node)[0].id == 0
            tree.state(tree.nearest_state(node)[0])


def test_a_killed_search_resumes(tmp_path: Path, cartridge: Cartridge):
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
        assert replay(tree, end.id, Emulator(cartridge.data), cartridge)[-1] == end


def nodes(folder: Path) -> int:
    """How many a search in another process has committed."""
    try:
        with read_tree(folder / TREE) as tree:
            return len(tree)
    except TreeError:
        return 0
