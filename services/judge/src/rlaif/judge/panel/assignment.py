"""Which judges are asked what: all of them, less what the memory decides.

A judge has at most two frozen prompts a game: all of its criteria, or only those that are never
wholly computed. So the prefix cache of its server keeps two prefixes, not one for each segment.
"""

import hashlib
from collections.abc import Mapping

from rlaif.judge.rubric.judges import Judge, without
from rlaif.judge.rubric.votes import NoVote

WHOLE = ("novelty", "efficiency")
"""Criteria that are computed for every segment whose states are complete."""


def judges_needed(
    judges: tuple[Judge, ...], decided: Mapping[str, int | NoVote], *, audit: bool
) -> tuple[Judge, ...]:
    """The judges that have something to answer, each with one of its two sets of criteria.

    An `audit` also asks the judges of a level that is decided, all that they judge, to hold them
    against what is certain. Where nothing was there to judge, there is nothing to hold against.
    """
    settled = frozenset(name for name in WHOLE if name in decided)
    asked = []
    for judge in judges:
        names = {criterion.name for criterion in judge.criteria}
        audited = audit and any(type(decided.get(name)) is int for name in names)
        core = without(judge, settled)
        if audited:
            asked.append(judge)
        elif core and any(criterion.name not in decided for criterion in core.criteria):
            # Either all that is computed is decided, or the whole judge is asked.
            asked.append(core if names & set(WHOLE) <= settled else judge)
    return tuple(asked)


def in_share(purpose: str, segment_id: str, share: float) -> bool:
    """Whether a segment is in the share of all that a purpose gets; equal ids, equal answers."""
    digest = hashlib.sha256(f"{purpose}:{segment_id}".encode()).digest()
    return int.from_bytes(digest[:4]) < share * 2**32
