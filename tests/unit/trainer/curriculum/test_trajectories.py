"""Selection of trajectories from a tree."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.game.captures.capture import pack_keyframe, unpack_keyframe
from rlaif.trainer.curriculum.trajectories import best_trajectories
from rlaif.trainer.search.tree import Node, Tree


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    grown = Tree(tmp_path / "tree.sqlite", {"title": "made up"})
    packed = pack_keyframe(b"power-on")
    grown.begin()
    grown.add(node(0, None, 0, steps=0))
    grown.put_state(0, packed.sha256, packed.data)
    yield grown
    grown.close()


def node(number: int, parent: int | None, treasures: int, *, steps: int = 10) -> Node:
    return Node(
        id=number,
        parent=parent,
        cell=b"cell%d" % number,
        room=0,
        marks=frozenset(f"treasure:{each + 1:x}" for each in range(treasures)),
        strength=1.0,
        decisions=((number % 8, steps),),
        actions="7" * steps,
        frames=4 * steps,
        digest=f"ram {number}",
        found_at=number,
    )


def ends(tree: Tree, count: int) -> list[str]:
    return [trajectory.sections[-1].digest for trajectory in best_trajectories(tree, count)]


def test_the_trajectory_with_the_highest_level_comes_first(tree: Tree) -> None:
    for number, treasures in ((1, 1), (2, 3), (3, 2)):
        tree.add(node(number, 0, treasures))
    assert ends(tree, 2) == ["ram 2", "ram 3"]


def test_a_trajectory_contains_everything_since_power_on(tree: Tree) -> None:
    tree.add(node(1, 0, 1, steps=3))
    tree.add(node(2, 1, 2, steps=4))
    (trajectory,) = best_trajectories(tree, 1)
    assert (unpack_keyframe(*trajectory.state), trajectory.digest) == (b"power-on", "ram 0")
    assert [section.plays for section in trajectory.sections] == [((1, "777"),), ((2, "7777"),)]
    assert trajectory.seconds == 7 / 15
    assert trajectory.marks == {"treasure:1", "treasure:2"}


def test_inner_nodes_are_not_ends(tree: Tree) -> None:
    tree.add(node(1, 0, 3))
    tree.add(node(2, 1, 3))
    assert ends(tree, 5) == ["ram 2"]


def test_a_distinct_trajectory_comes_before_a_better_sibling(tree: Tree) -> None:
    tree.add(node(1, 0, 2, steps=90))
    tree.add(node(2, 1, 4))
    tree.add(node(3, 1, 3))
    tree.add(node(4, 0, 2, steps=90))
    assert ends(tree, 2) == ["ram 2", "ram 4"]
    assert ends(tree, 3) == ["ram 2", "ram 4", "ram 3"]


def test_a_sibling_comes_before_a_distinct_trajectory_of_less_than_half_the_level(
    tree: Tree,
) -> None:
    tree.add(node(1, 0, 2, steps=90))
    tree.add(node(2, 1, 4))
    tree.add(node(3, 1, 3))
    tree.add(node(4, 0, 1, steps=90))
    assert ends(tree, 3) == ["ram 2", "ram 3", "ram 4"]


def test_there_are_at_most_as_many_trajectories_as_leaves(tree: Tree) -> None:
    tree.add(node(1, 0, 1))
    assert ends(tree, 9) == ["ram 1"]


def test_a_tree_with_only_its_root_has_no_trajectory(tree: Tree) -> None:
    assert best_trajectories(tree, 3) == ()
