"""Ways through the game out of a search's tree: which ones, and what each is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.trainer.search.marks import Marks, level_of
from rlaif.trainer.search.tree import Node, Tree

_WANTED = ((0.8, 0.5), (0.95, 0.5), (0.95, 0.0), (1.0, 0.0))
"""Share of a way that may lie on the ways chosen before, and level that it has at least, of the
highest; the next pair counts where too few are left."""


@dataclass(frozen=True)
class Stretch:
    """What was played from one kept moment to the next.

    Attributes:
        decisions: (index, its base steps).
        actions: One digit a base step.
        digest: Of the RAM at its end.
    """

    decisions: tuple[tuple[int, int], ...]
    actions: str
    digest: str


@dataclass(frozen=True)
class Way:
    """From a state of the game, such as power-on, to as far as it was played.

    Attributes:
        state: The save state that it begins with.
        cell: Its cell.
        digest: Of the RAM in it.
        stretches: In order.
        marks: What the game shows at the end.
    """

    state: bytes
    cell: bytes
    digest: str
    stretches: tuple[Stretch, ...]
    marks: Marks

    @property
    def steps(self) -> int:
        """Base steps of four frames."""
        return sum(len(stretch.actions) for stretch in self.stretches)


@dataclass(frozen=True)
class Part:
    """What was played from one needed mark of a way to the next.

    Attributes:
        state: The save state that it begins with.
        digest: Of the RAM in it.
        stretches: In order.
    """

    state: bytes
    digest: str
    stretches: tuple[Stretch, ...]

    @property
    def steps(self) -> int:
        """Base steps of four frames."""
        return sum(len(stretch.actions) for stretch in self.stretches)


def farthest_ways(tree: Tree, count: int) -> tuple[Way, ...]:
    """The ways that end farthest, farthest first, as unlike each other as the tree allows.

    All nodes of a tree descend from power-on, and the farthest ones are often brothers. So the next
    way is the farthest of those that share no more than 80 % of their base steps with a way that
    was chosen before, and come half as far as the farthest; when no more are found, 95 %, and so
    on. Fewer than `count` when the tree has fewer ends.
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
    for most_shared, least_level in _WANTED:
        for end in ends:
            if len(chosen) == count or level_of(end.marks) < least_level * top:
                break
            path = _path(nodes, end.id)
            if path not in chosen and all(
                _shared(path, other, steps) <= most_shared for other in chosen
            ):
                chosen.append(path)
    return tuple(_way(tree, [nodes[number] for number in path]) for path in chosen)


def _path(nodes: dict[int, Node], end: int) -> list[int]:
    path = [end]
    while (parent := nodes[path[-1]].parent) is not None:
        path.append(parent)
    return path[::-1]


def _shared(path: Sequence[int], other: Sequence[int], steps: dict[int, int]) -> float:
    """Share of a path's base steps that lie on another path too."""
    on_both = set(path) & set(other)
    return sum(steps[each] for each in on_both) / max(1, sum(steps[each] for each in path))


def _way(tree: Tree, lineage: Sequence[Node]) -> Way:
    root, *nodes = lineage
    return Way(
        state=tree.state(root.id),
        cell=root.cell,
        digest=root.digest,
        stretches=tuple(Stretch(node.decisions, node.actions, node.digest) for node in nodes),
        marks=nodes[-1].marks if nodes else root.marks,
    )
