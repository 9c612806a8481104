"""Selects trajectories from a search tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.trainer.search.marks import Marks, level_of
from rlaif.trainer.search.tree import Node, Tree

_WANTED = ((0.8, 0.5), (0.95, 0.5), (0.95, 0.0), (1.0, 0.0))
"""Successive pairs: maximum share of a trajectory that may lie on those selected before, and
minimum level relative to the highest one. A pair applies if those before it left too few
trajectories."""


@dataclass(frozen=True)
class Section:
    """What was played from one node of the tree to the next.

    Attributes:
        decisions: (decision, emulator steps).
        actions: One digit per emulator step.
        digest: Digest of the RAM at its end.
    """

    decisions: tuple[tuple[int, int], ...]
    actions: str
    digest: str


@dataclass(frozen=True)
class Trajectory:
    """A trajectory from a state of the game, such as power-on.

    Attributes:
        state: Its first save state.
        cell: Cell of that state.
        digest: Digest of the RAM in that state.
        sections: In order.
        marks: Flags that are set at its end.
    """

    state: bytes
    cell: bytes
    digest: str
    sections: tuple[Section, ...]
    marks: Marks

    @property
    def steps(self) -> int:
        """Emulator steps of four frames."""
        return sum(len(section.actions) for section in self.sections)


@dataclass(frozen=True)
class Part:
    """The part of a trajectory from one needed flag to the next.

    Attributes:
        state: Its first save state.
        digest: Digest of the RAM in that state.
        sections: In order.
    """

    state: bytes
    digest: str
    sections: tuple[Section, ...]

    @property
    def steps(self) -> int:
        """Emulator steps of four frames."""
        return sum(len(section.actions) for section in self.sections)


def best_trajectories(tree: Tree, count: int) -> tuple[Trajectory, ...]:
    """Return the trajectories with the highest levels, as diverse as the tree allows.

    Highest level first. All nodes descend from power-on, and the best ones are often siblings.
    Therefore the next trajectory is the best of those that share at most 80 % of their emulator
    steps with any selected one and reach at least half of the highest level; if these are too few,
    at most 95 %, and so on (`_WANTED`). The result has fewer than `count` items if the tree has
    fewer leaves.
    """
    nodes = {node.id: node for node in tree.nodes()}
    parents = {node.parent for node in nodes.values()}
    ends = sorted(
        (node for node in nodes.values() if node.id not in parents and node.parent is not None),
        key=lambda node: (-level_of(node.marks), node.frames, node.id),
    )
    steps = {number: len(node.actions) for number, node in nodes.items()}
    chosen: list[list[int]] = []
    top = level_of(ends[0].marks) if ends else 0.0
    for max_shared, min_level in _WANTED:
        for end in ends:
            if len(chosen) == count or level_of(end.marks) < min_level * top:
                break
            path = _path(nodes, end.id)
            if path not in chosen and all(
                _shared(path, other, steps) <= max_shared for other in chosen
            ):
                chosen.append(path)
    return tuple(_trajectory(tree, [nodes[number] for number in path]) for path in chosen)


def _path(nodes: dict[int, Node], end: int) -> list[int]:
    path = [end]
    while (parent := nodes[path[-1]].parent) is not None:
        path.append(parent)
    return path[::-1]


def _shared(path: Sequence[int], other: Sequence[int], steps: dict[int, int]) -> float:
    """Return the share of a path's emulator steps that are also on another path."""
    on_both = set(path) & set(other)
    return sum(steps[each] for each in on_both) / max(1, sum(steps[each] for each in path))


def _trajectory(tree: Tree, lineage: Sequence[Node]) -> Trajectory:
    root, *nodes = lineage
    return Trajectory(
        state=tree.state(root.id),
        cell=root.cell,
        digest=root.digest,
        sections=tuple(Section(node.decisions, node.actions, node.digest) for node in nodes),
        marks=nodes[-1].marks if nodes else root.marks,
    )
