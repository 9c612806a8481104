"""Selects trajectories from a search tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.player import Play
from rlaif.trainer.search.marks import Marks, level_of
from rlaif.trainer.search.tree import Node, Tree

_WANTED = ((0.8, 0.5), (0.95, 0.5), (0.95, 0.0), (1.0, 0.0))
"""Successive pairs: maximum share of a trajectory that may lie on those selected before, and
minimum level relative to the highest one. A pair applies if those before it left too few
trajectories."""

_STEPS_PER_SECOND = 15
"""Base steps of four frames, at 60 frames per second."""


@dataclass(frozen=True)
class Section:
    """What was played from one node of the tree to the next; `digest` is that of the RAM there."""

    plays: tuple[Play, ...]
    digest: str


@dataclass(frozen=True)
class Trajectory:
    """A trajectory from a state of the game, such as power-on.

    Attributes:
        state: Its first save state.
        digest: Digest of the RAM in that state.
        sections: In order.
        marks: Flags that are set at its end.
    """

    state: PackedKeyframe
    digest: str
    sections: tuple[Section, ...]
    marks: Marks

    @property
    def seconds(self) -> float:
        """Duration in game time."""
        steps = (len(play.buttons) for section in self.sections for play in section.plays)
        return sum(steps) / _STEPS_PER_SECOND


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
    sha256, packed = tree.packed(root.id)
    return Trajectory(
        state=PackedKeyframe(packed, sha256),
        digest=root.digest,
        sections=tuple(Section(tuple(_plays(node)), node.digest) for node in nodes),
        marks=lineage[-1].marks,
    )


def _plays(node: Node) -> Iterator[Play]:
    first = 0
    for decision, steps in node.decisions:
        yield Play(decision, node.actions[first : first + steps])
        first += steps
