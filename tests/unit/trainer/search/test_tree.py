"""The tree on disk: atomic, bounded, and bound to one game."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.captures.capture import pack_keyframe
from rlaif.trainer.search.tree import Node, Start, Tree, TreeError

IDENTITY = {"rom_sha256": "ab" * 32, "state_version": "29"}


def node(number: int, parent: int | None, **changes: object) -> Node:
    fields = {
        "id": number, "parent": parent, "cell": b"cell%04d" % number, "room": 0x77,
        "marks": frozenset({"treasure:5"}), "strength": 4.0, "decisions": ((16, 3), (250, 12)),
        "actions": "0123", "frames": 16, "digest": "cd" * 32, "found_at": 99, "place": b"place",
    }  # fmt: skip
    return Node(**{**fields, **changes})  # type: ignore[arg-type]  # a test names fields by hand


def opened(path: Path) -> Tree:
    return Tree(path / "tree.sqlite", IDENTITY)


@pytest.fixture
def open_tree(tmp_path: Path) -> Iterator[Callable[[], Tree]]:
    """Opens the tree of this test any number of times; closes all of them."""
    trees: list[Tree] = []

    def open_it() -> Tree:
        trees.append(opened(tmp_path))
        return trees[-1]

    yield open_it
    for tree in trees:
        tree.close()


def test_a_stored_node_is_returned_unchanged(open_tree: Callable[[], Tree]):
    tree = open_tree()
    packed, sha256 = pack_keyframe(b"state" * 50)
    tree.add(node(0, None, decisions=(), actions=""), stands=False)
    tree.add(node(1, 0))
    tree.put_state(1, sha256, packed)
    tree.close()
    again = open_tree()
    assert again.node(1) == node(1, 0)
    assert again.state(1) == b"state" * 50
    assert list(again.starts) == [
        Start(1, b"cell0001", b"place", 0x77, frozenset({"treasure:5"}), 4.0, 16, "cd" * 32)
    ]
    assert [each.id for each in again.lineage(1)] == [0, 1]
    assert again.next_id == 2


def test_a_tree_of_another_game_is_rejected(tmp_path: Path):
    opened(tmp_path).close()
    with pytest.raises(TreeError, match="rom_sha256"):
        Tree(tmp_path / "tree.sqlite", IDENTITY | {"rom_sha256": "cd" * 32})


def test_missing_nodes_raise(open_tree: Callable[[], Tree]):
    tree = open_tree()
    tree.add(node(0, None))
    with pytest.raises(TreeError, match="no state"):
        tree.state(0)
    with pytest.raises(TreeError, match="node 7"):
        tree.lineage(7)


def test_a_damaged_state_is_rejected(open_tree: Callable[[], Tree]):
    tree = open_tree()
    packed, _ = pack_keyframe(b"state" * 50)
    tree.add(node(0, None))
    tree.put_state(0, "00" * 32, packed)
    with pytest.raises(TreeError, match="damaged"):
        tree.state(0)


def test_a_killed_writer_leaves_exactly_its_committed_writes(
    tmp_path: Path, open_tree: Callable[[], Tree]
):
    script = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_tree import node, opened
tree = opened(Path(sys.argv[1]))
tree.begin()
tree.add(node(0, None))
tree.write_progress({"count": 1})
tree.commit()
tree.begin()
for number in range(1, 500):
    tree.add(node(number, number - 1))
    tree.put_state(number, "ab" * 32, bytes(5000))
tree.write_progress({"count": 500})
os.kill(os.getpid(), signal.SIGKILL)
"""
    where = str(Path(__file__).parent)
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), where], check=False, env=os.environ.copy()
    )
    assert ended.returncode == -signal.SIGKILL
    tree = open_tree()
    assert [each.id for each in tree.nodes()] == [0]
    assert [number for number, *_ in tree.starts] == [0]
    assert tree.progress("count") == 1


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30), st.sets(st.integers(0, 30)))
@settings(max_examples=40, deadline=None)
def test_a_sweep_keeps_exactly_the_trajectories_to_cells(parents: list[int], dropped: set[int]):
    with closing(Tree(Path(":memory:"), IDENTITY)) as tree:
        tree.add(node(0, None))
        above: dict[int, int | None] = {0: None}
        for number, parent in enumerate(parents, start=1):
            above[number] = parent % number
            tree.add(node(number, parent % number))
            tree.put_state(number, "ab" * 32, b"0")
        for number in dropped & set(above) - {0}:
            tree.drop_cell(b"cell%04d" % number)
        tree.sweep()
        kept = {number for number, *_ in tree.starts}
        needed = set()
        for number in kept:
            at: int | None = number
            while at is not None:
                needed.add(at)
                at = above[at]
        assert {each.id for each in tree.nodes()} == needed
        for number in kept:
            assert tree.lineage(number)[0].id == 0
        assert all(tree.packed(number) for number in needed - {0})
        for number in set(above) - needed:
            with pytest.raises(TreeError):
                tree.packed(number)


def test_one_of_two_nodes_represents_their_cell(open_tree: Callable[[], Tree]):
    tree = open_tree()
    tree.add(node(0, None))
    tree.add(node(1, 0, cell=b"cave"))
    tree.add(node(2, 0, cell=b"cave"))
    tree.add(node(3, 0, cell=b"cave"), stands=False)
    assert [number for number, *_ in tree.starts] == [0, 2]


@given(
    st.lists(st.text("01234567", max_size=4), min_size=1, max_size=12), st.sets(st.integers(1, 12))
)
@settings(max_examples=40, deadline=None)
def test_nearest_state_returns_the_nearest_ancestor_and_all_buttons_since(
    buttons: list[str], saved: set[int]
):
    with closing(Tree(Path(":memory:"), IDENTITY)) as tree:
        tree.add(node(0, None, actions=""))
        tree.put_state(0, "ab" * 32, b"0")
        for number, actions in enumerate(buttons, start=1):
            tree.add(node(number, number - 1, actions=actions))
        for number in saved & set(range(1, len(buttons) + 1)):
            tree.put_state(number, "ab" * 32, b"0")
        for number in range(len(buttons) + 1):
            base = max(each for each in {0, *saved} if each <= number)
            assert tree.nearest_state(number) == (base, "".join(buttons[base:number]))


def test_nearest_state_raises_if_no_ancestor_has_a_state(open_tree: Callable[[], Tree]):
    tree = open_tree()
    tree.add(node(0, None))
    with pytest.raises(TreeError, match="no save state"):
        tree.nearest_state(0)
