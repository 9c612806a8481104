"""Reports of search and curriculum, limited to the size of a reading, with readable flag names.

A discovery is the first node with some flag (`rlaif.trainer.search.marks`). Flags are
named as below; numbers are hexadecimal, a room is the first map group of its page, its number, and
one bit of its flags. Unknown flags keep their name.

    treasure:5     sword                    room:5:c7:20   item of room 5/C7
    map:1          map 1                    room:4:11:1    door up of room 4/11
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from rlaif.contracts.game.items import NAMED_ITEMS, SEASON_POWERS
from rlaif.contracts.telemetry.curriculum import MAX_SEGMENTS, CurriculumSegment
from rlaif.contracts.telemetry.search import (
    MARK_CHARACTERS,
    MARKS_OF_A_NODE,
    MAX_TREE_NODES,
    TreeNode,
)
from rlaif.trainer.run_folder.protocol import CurriculumReport

_ITEMS = {number: name.replace("_", " ") for name, number in NAMED_ITEMS.items()} | {
    0x28: "first rupees",
    0x29: "first heart",
    0x2A: "heart container",
    0x30: "small key",
    0x31: "boss key",
    0x32: "compass",
    0x33: "map",
    0x37: "ore chunks",
    0x40: "essence",
}
"""Treasure → its name."""

_SEASONS = tuple(name.replace("_", " ") for name in SEASON_POWERS.values())
_NUMBERED = frozenset({"boss_key", "compass", "map", "golden", "jewel"})
_LEVELS = frozenset({"sword", "shield", "satchel", "boomerang", "slingshot", "feather", "ring_box"})
_ITEM, _EVENT = 0x20, 0x80
_DOORS = {0x01: "up", 0x02: "right", 0x04: "down", 0x08: "left"}
_UNDERGROUND = frozenset({"4", "5"})


_FIRST = ("essence", "treasure", *sorted(_LEVELS), "season", "boss_key", "jewel")
"""The most informative kinds, most informative first."""


def marks_in_words(marks: Iterable[str]) -> list[str]:
    """Readable names of flags, most informative first."""
    return [mark_in_words(mark) for mark in sorted(marks, key=_rank)]


def mark_in_words(mark: str) -> str:
    """Readable name of a flag, such as `door up of room 4/11`."""
    kind, *rest = mark.split(":")
    try:
        if kind == "room":
            group, room, flag = rest
            return f"{_flag(group, int(flag, 16))} room {group}/{int(room, 16):02X}"
        (number,) = rest
        return _numbered(kind, int(number, 16)) or mark
    except (ValueError, IndexError):
        return mark


def _rank(mark: str) -> tuple[int, str]:
    kind = mark.split(":")[0]
    return (_FIRST.index(kind) if kind in _FIRST else len(_FIRST)), mark


def _numbered(kind: str, number: int) -> str | None:
    if kind == "treasure":
        return _ITEMS.get(number, f"treasure 0x{number:02X}")
    if kind == "season":
        return _SEASONS[number]
    if kind == "essence":
        return f"essence {number + 1}"
    if kind in _LEVELS:
        return f"{kind.replace('_', ' ')} level {number}"
    return f"{kind.replace('_', ' ')} {number}" if kind in _NUMBERED else None


def _flag(group: str, flag: int) -> str:
    if flag == _ITEM:
        return "item of"
    if flag == _EVENT:
        return "event in"
    if group in _UNDERGROUND and flag in _DOORS:
        return f"door {_DOORS[flag]} of"
    return f"change 0x{flag:02X} in"


def tree_of_progress(
    finds: Sequence[TreeNode], parents: Mapping[int, int | None], most: int = MAX_TREE_NODES
) -> tuple[tuple[TreeNode, ...], int]:
    """Return the tree of the discoveries, and the number of omitted ones.

    The parent of a node is the nearest discovery on its trajectory. Of more than `most` nodes,
    those of the highest level are kept with their trajectories, within a level the newest.

    Args:
        finds: In the order of discovery, each node once, after its ancestors, with any parent.
        parents: Node → the node that it was reached from; None or missing: power-on.
        most: Maximum number of nodes.
    """
    order = {find.node: index for index, find in enumerate(finds)}
    above = {node: _nearest(node, order, parents) for node in order}
    kept = _pruned(finds, above, most)
    tree = tuple(
        find.model_copy(update={"parent": above[find.node]}) for find in finds if find.node in kept
    )
    return tree, len(finds) - len(tree)


def curriculum_report(
    phase: str,
    segments: Sequence[CurriculumSegment],
    *,
    power_on_share: float,
    demonstrations: int,
    whole_tries: int = 0,
    whole_success: float | None = None,
    most: int = MAX_SEGMENTS,
) -> CurriculumReport:
    """Summarize all segments and list at most `most`: mastered ones are omitted first."""
    spare = max(0, len(segments) - most)
    mastered = [index for index, each in enumerate(segments) if each.frontier == 0]
    omitted = set(mastered[:spare])
    shown = [each for index, each in enumerate(segments) if index not in omitted]
    return CurriculumReport(
        phase=phase,
        power_on_share=power_on_share,
        demonstrations=demonstrations,
        all_segments=len(segments),
        mastered=len(mastered),
        tries=sum(segment.tries for segment in segments),
        whole_tries=whole_tries,
        whole_success=whole_success,
        frontier_mean=_mean([segment.frontier for segment in segments]),
        success_mean=_mean([each.success for each in segments if each.success is not None]),
        segments=tuple(shown[:most]),
    )


def discovery(
    node: int, *, frames: int, seconds: float, level: float, marks: Sequence[str]
) -> TreeNode:
    """Return the first node with `marks`, with readable flag names and without its parent."""
    return TreeNode(
        node=node,
        parent=None,
        frames=frames,
        seconds=seconds,
        level=level,
        marks=tuple(map(mark_name, marks_in_words(marks)[:MARKS_OF_A_NODE])),
        marks_left_out=max(0, len(marks) - MARKS_OF_A_NODE),
    )


def marks_name(marks: Iterable[str]) -> str:
    """Readable name of several flags: the most important one, and the number of others."""
    first, *more = marks_in_words(marks)
    return mark_name(f"{first} +{len(more)}" if more else first)


def mark_name(text: str) -> str:
    """`text` as a name that contracts accept: printable, not empty, not too long."""
    plain = "".join(each if " " <= each <= "~" else "?" for each in text)
    return plain if 0 < len(plain) <= MARK_CHARACTERS else f"{plain[: MARK_CHARACTERS - 3]}..."


def _nearest(node: int, order: Mapping[int, int], parents: Mapping[int, int | None]) -> int | None:
    """The nearest earlier discovery; None for power-on or if the file is inconsistent."""
    seen = {node}
    above = parents.get(node)
    while above is not None and above not in order and above not in seen:
        seen.add(above)
        above = parents.get(above)
    return above if above is not None and order.get(above, len(order)) < order[node] else None


def _pruned(finds: Sequence[TreeNode], above: Mapping[int, int | None], most: int) -> set[int]:
    kept: set[int] = set()
    for find in sorted(reversed(finds), key=lambda each: each.level, reverse=True):
        path: list[int] = []
        node: int | None = find.node
        while node is not None and node not in kept:
            path.append(node)
            node = above[node]
        if len(kept) + len(path) <= most:
            kept.update(path)
    return kept


def _mean(shares: Sequence[float]) -> float | None:
    return fmean(shares) if shares else None
