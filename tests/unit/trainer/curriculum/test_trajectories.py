"""Selection of trajectories from a tree."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.game.captures.capture import pack_keyframe
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
    return [trajectory[-1].digest for trajectory in best_trajectories(tree, count)]


def test_the_trajectory_with_the_highest_level_comes_first(tree: Tree) -> None:
    for number, treasures in ((1, 1), (2, 3), (3, 2)):
        tree.add(node(number, 0, treasures))
    assert ends(tree, 2) == ["ram 2", "ram 3"]


def test_a_trajectory_ends_at_a_leaf_and_contains_everything_since_power_on(tree: Tree) -> None:
    tree.add(node(1, 0, 3))
    tree.add(node(2, 1, 3))
    (trajectory,) = best_trajectories(tree, 5)
    assert [each.id for each in trajectory] == [0, 1, 2]


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


def test_a_tree_with_only_its_root_has_no_trajectory(tree: Tree) -> None:
    assert best_trajectories(tree, 3) == []
