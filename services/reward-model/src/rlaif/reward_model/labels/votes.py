"""Votes in, what they teach out: people's word about a pair, whatever the judges say of it.

A person's word takes the place of the judges' about that pair, as a person's score takes the place
of theirs. Several people are several witnesses, who err for reasons of their own: their log-odds
add up, so that two who agree are surer, and two who disagree leave the pair open.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.votes import VoteRecord
from rlaif.reward_model.labels.labels import LabelledSegment

RIGHT = 0.85
"""P(A better) when one person says so. Two people who were shown the same clips agree on three of
four pairs or so; who is 0.85 right agrees with another such person on 0.75 of them."""

_MOST_LEAN = 2.0
"""People beyond two add no certainty: what they were shown is the same two clips."""


def standing_votes(records: Iterable[VoteRecord]) -> list[VoteRecord]:
    """The votes that count, oldest first: of each person and pair the last one not taken back."""
    lines = list(records)
    undone = {line.undoes for line in lines if line.kind == "undo"}
    last: dict[tuple[str, tuple[str, str]], VoteRecord] = {}
    for line in lines:
        if line.kind == "vote" and line.number not in undone:
            last[line.actor, line.pair] = line
    return sorted(last.values(), key=lambda line: line.number)


def leans(votes: Iterable[VoteRecord]) -> dict[tuple[str, str], float]:
    """Pair → by how many more people its first segment was preferred than its second.

    Votes for neither count for none of them; a pair that was only skipped has no entry.
    """
    found: dict[tuple[str, str], float] = {}
    for vote in votes:
        if vote.choice is None or vote.choice == "skip":
            continue
        first = vote.pair[0] == vote.a
        lean = {"a": 1.0, "b": -1.0, "equal": 0.0}[vote.choice] * (1 if first else -1)
        found[vote.pair] = found.get(vote.pair, 0.0) + lean
    return found


def with_votes(
    labels: Sequence[LabelledSegment], votes: Iterable[VoteRecord]
) -> list[LabelledSegment]:
    """The labels with what people said of two of them.

    `votes` are those that count; one with a segment that is no label is left out.
    """
    known = {item.segment_id for item in labels}
    voted: dict[str, dict[str, float]] = {}
    for (first, second), lean in leans(votes).items():
        if first in known and second in known:
            voted.setdefault(first, {})[second] = lean
            voted.setdefault(second, {})[first] = -lean
    return [
        replace(item, voted=voted[item.segment_id]) if item.segment_id in voted else item
        for item in labels
    ]


def vote_ids(labels: Iterable[LabelledSegment]) -> frozenset[str]:
    """What people said of pairs among the labels, as one word each: equal votes, equal words."""
    return frozenset(
        f"{item.segment_id} {other} {lean:g}"
        for item in labels
        for other, lean in item.voted.items()
        if item.segment_id < other
    )


def vote_digest(labels: Iterable[LabelledSegment]) -> str | None:
    """SHA-256 of what people said of pairs among the labels; None when they said nothing."""
    words = sorted(vote_ids(labels))
    return hashlib.sha256("\n".join(words).encode()).hexdigest() if words else None


def log_odds(lean: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` log-odds that A is better, for the leans of pairs."""
    bounded = np.clip(lean, -_MOST_LEAN, _MOST_LEAN)
    found: NDArray[np.float64] = bounded * np.log(RIGHT / (1.0 - RIGHT))
    return found
