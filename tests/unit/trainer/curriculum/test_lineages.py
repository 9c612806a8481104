"""Which ways are taken out of a tree: the farthest, as unlike each other as it has them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.game.captures.capture import pack_keyframe
from rlaif.trainer.curriculum.lineages import farthest_ways
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
    return [way.stretches[-1].digest for way in farthest_ways(tree, count)]


def test_the_way_to_the_most_marks_comes_first(tree: Tree) -> None:
    for number, treasures in ((1, 1), (2, 3), (3, 2)):
        tree.add(node(number, 0, treasures))
    assert ends(tree, 2) == ["ram 2", "ram 3"]


def test_a_way_is_all_that_was_played_from_power_on(tree: Tree) -> None:
    tree.add(node(1, 0, 1, steps=3))
    tree.add(node(2, 1, 2, steps=4))
    (way,) = farthest_ways(tree, 1)
    assert (way.state, way.digest, way.cell) == (b"power-on", "ram 0", b"cell0")
    assert [stretch.actions for stretch in way.stretches] == ["777", "7777"]
    assert [stretch.decisions for stretch in way.stretches] == [((1, 3),), ((2, 4),)]
    assert way.steps == 7
    assert way.marks == {"treasure:1", "treasure:2"}


def test_moments_on_the_way_to_others_are_no_ends(tree: Tree) -> None:
    tree.add(node(1, 0, 3))
    tree.add(node(2, 1, 3))
    assert ends(tree, 5) == ["ram 2"]


def test_a_way_of_its_own_comes_before_a_brother_that_ends_farther(tree: Tree) -> None:
    tree.add(node(1, 0, 2, steps=90))
    tree.add(node(2, 1, 4))
    tree.add(node(3, 1, 3))
    tree.add(node(4, 0, 2, steps=90))
    assert ends(tree, 2) == ["ram 2", "ram 4"]
    assert ends(tree, 3) == ["ram 2", "ram 4", "ram 3"]


def test_a_brother_comes_before_a_way_of_its_own_that_ends_not_half_as_far(tree: Tree) -> None:
    tree.add(node(1, 0, 2, steps=90))
    tree.add(node(2, 1, 4))
    tree.add(node(3, 1, 3))
    tree.add(node(4, 0, 1, steps=90))
    assert ends(tree, 3) == ["ram 2", "ram 3", "ram 4"]


def test_there_are_no_more_ways_than_ends(tree: Tree) -> None:
    tree.add(node(1, 0, 1))
    assert ends(tree, 9) == ["ram 1"]


def test_a_tree_of_power_on_alone_has_no_way(tree: Tree) -> None:
    assert farthest_ways(tree, 3) == ()
