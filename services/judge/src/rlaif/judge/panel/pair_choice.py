"""Which of the segments scored last are worth a comparison, by what is known of two of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from rlaif.contracts.evidence import Evidence
from rlaif.contracts.quest import SAME_PLACE
from rlaif.contracts.scores import ScoreRecord

Kind = Literal["near_tie", "wanted", "ram_tie"]
"""Where a pair to compare comes from."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_LEARNED_BESIDE_THE_RISE = ("dialog", "puzzle")


@dataclass(frozen=True)
class Scored:
    """A segment with its score; `sha256` is the digest of the stored score object."""

    evidence: Evidence
    record: ScoreRecord
    sha256: str

    @property
    def segment_id(self) -> str:
        """Its id."""
        return self.record.segment_id


Tie = Callable[[ScoreRecord, ScoreRecord], bool]


def newest_partner(one: Scored, others: Iterable[Scored], tie: Tie) -> Scored | None:
    """The first of `others` that ties with `one` and is not the same to a judge."""
    for other in others:
        same = one.segment_id == other.segment_id or (
            one.record.evidence_sha256 is not None
            and one.record.evidence_sha256 == other.record.evidence_sha256
        )
        if not same and tie(one.record, other.record):
            return other
    return None


def nearly_tie(one: ScoreRecord, other: ScoreRecord, *, margin: float) -> bool:
    """Whether the judges' scores of two segments hardly tell which is worth more.

    The worth is the rise on the quest, with dialog and puzzle beside it. Where no judge could say
    where either stands on the quest, it is the rubric mean. One of each kind is no tie.
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
    """Whether neither the game's RAM nor the quest tells two segments apart.

    A rise that is unknown is no difference: then only the pictures can say.
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
    """The kinds of comparisons take turns: first comes the one that was served longest ago.

    A kind that often finds nothing thus never waits behind one that always does.
    """

    def __init__(self) -> None:
        self._order = list(KINDS)

    def order(self) -> tuple[Kind, ...]:
        """The kinds, the one whose turn it is first."""
        return tuple(self._order)

    def served(self, kind: Kind) -> None:
        """Put a kind at the end."""
        self._order.remove(kind)
        self._order.append(kind)
