"""Chooses recent segments for a comparison."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from rlaif.contracts.evidence import Evidence
from rlaif.contracts.quest import SAME_PLACE
from rlaif.contracts.scores import ScoreRecord

Kind = Literal["near_tie", "wanted", "ram_tie"]
"""Source of a pair."""

KINDS: tuple[Kind, ...] = get_args(Kind)

MARGIN = 0.05
"""Segments nearly tie if their rises on the quest differ by at most this, in objectives (half a
screen is 0.045), or their rubric means where no rise is known."""

_LEARNED_BESIDE_THE_RISE = ("dialog", "puzzle")


@dataclass(frozen=True)
class Scored:
    """A segment with its score; `sha256` is the digest of the stored score."""

    evidence: Evidence
    record: ScoreRecord
    sha256: str

    @property
    def segment_id(self) -> str:
        return self.record.segment_id


Tie = Callable[[ScoreRecord, ScoreRecord], bool]


def newest_partner(one: Scored, others: Iterable[Scored], tie: Tie) -> Scored | None:
    """The first of `others` that ties with `one` and has different evidence."""
    for other in others:
        same = one.segment_id == other.segment_id or (
            one.record.evidence_sha256 is not None
            and one.record.evidence_sha256 == other.record.evidence_sha256
        )
        if not same and tie(one.record, other.record):
            return other
    return None


def nearly_tie(one: ScoreRecord, other: ScoreRecord, *, margin: float = MARGIN) -> bool:
    """Whether the scores of two segments hardly order them.

    Compared are the rise on the quest, dialog and puzzle; or the rubric means, if neither segment
    has a position on the quest. If only one has, it is not a tie.
    """
    if one.quest is not None and other.quest is not None:
        near = abs(one.quest.rise - other.quest.rise) <= margin
        return near and all(_same_level(one, other, name) for name in _LEARNED_BESIDE_THE_RISE)
    if one.quest is not None or other.quest is not None:
        return False
    if one.weighted is None or other.weighted is None:
        return False
    return abs(one.weighted - other.weighted) <= margin


def ram_ties(one: ScoreRecord, other: ScoreRecord) -> bool:
    """Whether neither the RAM nor the quest orders two segments.

    An unknown rise is no difference: then only the pictures show it.
    """
    if not one.truth or one.truth != other.truth:
        return False
    if one.quest is None or other.quest is None:
        return True
    return abs(one.quest.rise - other.quest.rise) < SAME_PLACE


def _same_level(one: ScoreRecord, other: ScoreRecord, name: str) -> bool:
    ours, theirs = one.criteria.get(name), other.criteria.get(name)
    return ours is None or theirs is None or ours.value == theirs.value


class Turns:
    """The kinds of comparisons take turns: the one served longest ago comes first.

    So a kind that often finds nothing never waits behind one that always does.
    """

    def __init__(self) -> None:
        self._order = list(KINDS)

    def order(self) -> tuple[Kind, ...]:
        return tuple(self._order)

    def served(self, kind: Kind) -> None:
        """Move a kind to the end."""
        self._order.remove(kind)
        self._order.append(kind)
