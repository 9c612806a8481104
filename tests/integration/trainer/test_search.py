"""The search on the built-in game: verified trajectories, determinism, recovery after a kill."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.blocks import RamBlocks
from rlaif.testing.searching import search_until
from rlaif.testing.waiting import eventually
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.learner.runners.runner import RunnerConfig
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.search.draws import RATED
from rlaif.trainer.search.jobs import Outcome
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.search import Figures
from rlaif.trainer.search.tree import Node, Tree, TreeError, read_tree
from rlaif.trainer.settings.game import GameSettings

FRAMES = 40_000

ENDLESS = """
import sys
from pathlib import Path
from rlaif.testing.searching import search_until
search_until(lambda figures: False, Path(sys.argv[1]), environments=8)
"""


class Arbitrary:
    """Rates a state by its sum, at once."""

    def ask(self, states: Sequence[RamBlocks]) -> None:
        self._answers = [sum(state.wram) % 100 / 10 for state in states]

    def answers(self) -> Sequence[float]:
        return self._answers


def searched(folder: Path, *, frames: int, **changes: Any) -> Figures:
    return search_until(lambda figures: figures.frames >= frames, folder, **changes)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    folder = tmp_path_factory.mktemp("search")
    searched(folder, frames=FRAMES)
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


def test_a_state_that_is_not_reached_again_is_dropped(tmp_path: Path):
    searched(tmp_path, frames=5_000)
    search = open_search(tmp_path, load_cartridge())
    runner = RunnerConfig(EnvConfig("search"), count=1, exploring=1).build(0)
    job = search.next_job(0)
    begin = next(each for each in job.starts if each.actions)
    swapped = f"{(int(begin.actions[0]) + 1) % 4}{begin.actions[1:]}"
    wrong = replace(job, starts=(replace(begin, actions=swapped),))
    fragment = runner.sample(steps=2, capture_quota=0, context=CaptureContext(), job=wrong)
    assert fragment.explored is not None
    assert fragment.explored.outcomes[0] == Outcome(begin.cell, begin.rule, is_reached=False)
    search.take_in(0, fragment.explored)
    assert begin.cell in search.next_job(0).dropped
    search.close()
    with read_tree(tmp_path / TREE) as tree:
        assert begin.cell not in [start.cell for start in tree.starts]
    runner.stop()


def test_equal_seeds_find_equal_trajectories(found: Tree, tmp_path: Path):
    searched(tmp_path, frames=FRAMES)
    with read_tree(tmp_path / TREE) as again:
        assert list(again.nodes()) == list(found.nodes())


def test_equal_seeds_and_ratings_find_equal_trajectories(tmp_path: Path):
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        searched(folder, frames=FRAMES // 2, rater=Arbitrary(), draws=RATED)
        with read_tree(folder / TREE) as tree:
            found.append((list(tree.nodes()), list(tree.groups())))
    assert found[0] == found[1]
    assert any(group.rating is not None for group in found[0][1])


def test_workers_share_what_they_find_in_one_tree(tmp_path: Path):
    figures = searched(tmp_path, frames=FRAMES, workers=2)
    with read_tree(tmp_path / TREE) as tree:
        cells = [cell for _, cell, *_ in tree.starts]
        assert len(cells) == len(set(cells)) == figures.cells
        end = ends(tree)[0]
        replay(tree, end)


def test_above_its_limit_cells_are_dropped_and_trajectories_stay_complete(tmp_path: Path):
    figures = searched(tmp_path, frames=FRAMES, max_cells=15)
    assert figures.cells <= 15
    with read_tree(tmp_path / TREE) as tree:
        assert len(tree) < figures.nodes  # of those it ever had
        for node, *_ in tree.starts:
            assert tree.lineage(node)[0].id == 0
            tree.state(tree.nearest_state(node)[0])


def test_a_killed_search_resumes(tmp_path: Path):
    command = [sys.executable, "-W", "ignore", "-c", ENDLESS, str(tmp_path)]
    search = subprocess.Popen(command, start_new_session=True)
    try:
        asyncio.run(eventually(lambda: nodes(tmp_path) > 5, "nodes are committed", seconds=240))
    finally:
        os.killpg(search.pid, signal.SIGKILL)
        search.wait()
    before = nodes(tmp_path)
    with read_tree(tmp_path / TREE) as tree:
        assert all(tree.lineage(node.id)[0].id == 0 for node in tree.nodes())
    searched(tmp_path, frames=200_000)
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
