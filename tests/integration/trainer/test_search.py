"""The search on the built-in game: verified trajectories, determinism, recovery after a kill."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.testing.waiting import eventually
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.search.draws import BY_COUNTS, DrawSettings
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.ratings import Rater
from rlaif.trainer.search.search import Figures, SearchSettings
from rlaif.trainer.search.tree import Node, Tree, TreeError, read_tree
from rlaif.trainer.search.worker import Begin, Job, ReplayMismatchError, Worker
from rlaif.trainer.settings.game import GameSettings

FRAMES = 40_000


@pytest.fixture(scope="module")
def cartridge() -> Cartridge:
    return load_cartridge()


class Arbitrary:
    """Rates a state by its sum, at once."""

    def ask(self, states: Sequence[RamBlocks]) -> None:
        self._answers = [sum(state.wram) % 100 / 10 for state in states]

    def answers(self) -> Sequence[float]:
        return self._answers


def searched(
    folder: Path,
    cartridge: Cartridge,
    *,
    frames: int,
    workers: int = 0,
    rater: Rater | None = None,
    **changes: Any,
) -> Figures:
    settings = SearchSettings(seed=3, **changes)
    search = open_search(folder, cartridge, settings, workers=workers, rater=rater)
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


def replay(tree: Tree, end: Node) -> None:
    """Decide as the search did, in the environment of a policy."""
    player = Player(GameSettings())
    player.begin(tree.state(0))
    for node in tree.lineage(end.id):
        buttons = ""
        for decision, steps in node.decisions:
            assert allowed(player.ram, "macros")[decision], DECISIONS[decision].name
            play = player.decide(decision)
            assert len(play.buttons) == steps
            buttons += play.buttons
        assert (buttons, player.digest()) == (node.actions, node.digest)
    player.close()


def test_a_policy_that_decides_as_the_search_did_gets_the_same_ram(found: Tree):
    for end in ends(found)[:3]:
        replay(found, end)


def test_a_changed_trajectory_is_detected(found: Tree, cartridge: Cartridge):
    end = ends(found)[0]
    start, actions = found.nearest_state(end.id)
    packed = found.packed(start)
    swapped = f"{(int(actions[0]) + 1) % 4}{actions[1:]}"
    begin = Begin(end.id, end.cell, *packed, swapped, end.digest, end.frames, save=False)
    worker = Worker(Emulator(cartridge.data))
    with pytest.raises(ReplayMismatchError, match=f"node {end.id}"):
        worker.play(Job(0, (begin,)))


def test_equal_seeds_find_equal_trajectories(found: Tree, tmp_path: Path, cartridge: Cartridge):
    searched(tmp_path, cartridge, frames=FRAMES)
    with read_tree(tmp_path / TREE) as again:
        assert list(again.nodes()) == list(found.nodes())


def test_equal_seeds_and_ratings_find_equal_trajectories(tmp_path: Path, cartridge: Cartridge):
    draws = DrawSettings({**BY_COUNTS, "rated": 1.0}, learned=True)
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        searched(folder, cartridge, frames=FRAMES // 2, rater=Arbitrary(), draws=draws)
        with read_tree(folder / TREE) as tree:
            found.append((list(tree.nodes()), list(tree.groups())))
    assert found[0] == found[1]
    assert any(group.rating is not None for group in found[0][1])


def test_workers_share_what_they_find_in_one_tree(tmp_path: Path, cartridge: Cartridge):
    figures = searched(tmp_path, cartridge, frames=FRAMES, workers=2)
    with read_tree(tmp_path / TREE) as tree:
        cells = [cell for _, cell, *_ in tree.starts]
        assert len(cells) == len(set(cells)) == figures.cells
        end = ends(tree)[0]
        replay(tree, end)


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
        replay(tree, end)


def nodes(folder: Path) -> int:
    """How many a search in another process has committed."""
    try:
        with read_tree(folder / TREE) as tree:
            return len(tree)
    except TreeError:
        return 0
