"""Selects trajectories from a search tree."""

from collections.abc import Sequence

from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.tree import Node, Tree

_WANTED = ((0.8, 0.5), (0.95, 0.5), (0.95, 0.0), (1.0, 0.0))
"""Successive pairs: maximum share of a trajectory that may lie on those selected before, and
minimum level relative to the highest one. A pair applies if those before it left too few
trajectories."""


def best_trajectories(tree: Tree, count: int) -> list[list[Node]]:
    """Return the trajectories with the highest levels, as diverse as the tree allows.

    Highest level first; each has its nodes from the root. All nodes descend from power-on, and the
    best ones are often siblings. Therefore the next trajectory is the best of those that share at
    most 80 % of their emulator steps with any selected one and reach at least half of the highest
    level; if these are too few, at most 95 %, and so on (`_WANTED`). The result has fewer than
    `count` items if the tree has fewer leaves.
    """
    nodes = {node.id: node for node in tree.nodes()}
    parents = {node.parent for node in nodes.values()}
    ends = sorted(
        (node for node in nodes.values() if node.id not in parents and node.parent is not None),
        key=lambda node: (-level_of(node.marks), node.frames, node.id),
    )
    chosen: list[list[Node]] = []
    for max_shared, min_level in _WANTED:
        for end in ends:
            if len(chosen) == count or level_of(end.marks) < min_level * level_of(ends[0].marks):
                break
            path = _path(nodes, end)
            if path not in chosen and all(_shared(path, other) <= max_shared for other in chosen):
                chosen.append(path)
    return chosen


def _path(nodes: dict[int, Node], end: Node) -> list[Node]:
    path = [end]
    while (parent := path[-1].parent) is not None:
        path.append(nodes[parent])
    return path[::-1]


def _shared(path: Sequence[Node], other: Sequence[Node]) -> float:
    """Return the share of a path's emulator steps that are also on another path."""
    known = {node.id for node in other}
    steps = sum(len(node.actions) for node in path)
    return sum(len(node.actions) for node in path if node.id in known) / max(1, steps)
