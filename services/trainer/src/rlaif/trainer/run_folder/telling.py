"""What a search and a curriculum tell: any number of finds and segments in, a reading's worth out.

A find is a node that was the first to have some mark. Readings are small by contract
(`rlaif.contracts.search_figures`, `curriculum_figures`); here is what they hold when there is more.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rlaif.contracts.curriculum_figures import (
    MOST_SEGMENTS,
    CurriculumFigures,
    CurriculumSegment,
)
from rlaif.contracts.search_figures import (
    MARK_CHARACTERS,
    MARKS_OF_A_NODE,
    MOST_TREE_NODES,
    TreeNode,
)
from rlaif.trainer.run_folder.mark_words import marks_in_words


@dataclass(frozen=True)
class Find:
    """A node that was the first to have some mark.

    Attributes:
        node: Its number.
        frames: Game frames that all workers had played until it was found.
        seconds: Time that had been searched until then.
        level: How far it is, as the search draws by it.
        marks: What none before it had, as the search names it; told in words.
    """

    node: int
    frames: int
    seconds: float
    level: float
    marks: tuple[str, ...]


def tree_of_progress(
    finds: Sequence[Find], parents: Mapping[int, int | None], most: int = MOST_TREE_NODES
) -> tuple[tuple[TreeNode, ...], int]:
    """The tree of the finds, and how many of them it leaves out.

    The parent of a node in it is the nearest find on its way from power-on. When there are more
    than `most`, those go first that nothing else came out of, of these the ones of the lowest
    level, of these the oldest: the way to the farthest is whole as long as it fits.

    Args:
        finds: In the order in which they were found, each node once: it comes after all that it
            came out of.
        parents: Node → the node that it came out of; None, or not there: power-on.
        most: Nodes that are told at most.
    """
    order = {find.node: index for index, find in enumerate(finds)}
    above = {node: _nearest(node, order, parents) for node in order}
    kept = _pruned(finds, above, most)
    tree = tuple(_told(find, above[find.node]) for find in finds if find.node in kept)
    return tree, len(finds) - len(tree)


def curriculum_figures(
    phase: str,
    segments: Sequence[CurriculumSegment],
    *,
    power_on_share: float,
    demonstrations: int,
    whole_tries: int = 0,
    whole_success: float | None = None,
    most: int = MOST_SEGMENTS,
) -> CurriculumFigures:
    """The figures of all segments, with `most` of them one by one: the mastered go first."""
    spare = len(segments) - most
    told = []
    for segment in segments:
        if spare > 0 and segment.frontier == 0:
            spare -= 1
        else:
            told.append(segment)
    return CurriculumFigures(
        phase=phase,
        power_on_share=power_on_share,
        demonstrations=demonstrations,
        all_segments=len(segments),
        mastered=sum(segment.frontier == 0 for segment in segments),
        tries=sum(segment.tries for segment in segments),
        whole_tries=whole_tries,
        whole_success=whole_success,
        frontier_mean=_mean([segment.frontier for segment in segments]),
        success_mean=_mean([each.success for each in segments if each.success is not None]),
        segments=tuple(told[:most]),
    )


def marks_name(marks: Iterable[str]) -> str:
    """One name for several marks, at least one: what says most in words, and how many more."""
    first, *more = marks_in_words(marks)
    return mark_name(f"{first} +{len(more)}" if more else first)


def mark_name(text: str) -> str:
    """`text` as a name that contracts take: printable, not empty, not too long."""
    plain = "".join(each if " " <= each <= "~" else "?" for each in text)
    return plain if 0 < len(plain) <= MARK_CHARACTERS else f"{plain[: MARK_CHARACTERS - 3]}..."


def _nearest(node: int, order: Mapping[int, int], parents: Mapping[int, int | None]) -> int | None:
    """The nearest find before it; a file that says otherwise is read as power-on."""
    seen = {node}
    above = parents.get(node)
    while above is not None and above not in order and above not in seen:
        seen.add(above)
        above = parents.get(above)
    return above if above is not None and order.get(above, len(order)) < order[node] else None


def _pruned(finds: Sequence[Find], above: Mapping[int, int | None], most: int) -> set[int]:
    levels = {find.node: (find.level, index) for index, find in enumerate(finds)}
    children = Counter(parent for parent in above.values() if parent is not None)
    leaves = [(*rank, node) for node, rank in levels.items() if not children[node]]
    heapq.heapify(leaves)
    kept = set(levels)
    while len(kept) > most:
        *_, gone = heapq.heappop(leaves)
        kept.remove(gone)
        parent = above[gone]
        if parent is None:
            continue
        children[parent] -= 1
        if not children[parent]:
            heapq.heappush(leaves, (*levels[parent], parent))
    return kept


def _told(find: Find, parent: int | None) -> TreeNode:
    return TreeNode(
        node=find.node,
        parent=parent,
        frames=find.frames,
        seconds=find.seconds,
        level=find.level,
        marks=tuple(map(mark_name, marks_in_words(find.marks)[:MARKS_OF_A_NODE])),
        marks_left_out=max(0, len(find.marks) - MARKS_OF_A_NODE),
    )


def _mean(shares: Sequence[float]) -> float | None:
    return fmean(shares) if shares else None
