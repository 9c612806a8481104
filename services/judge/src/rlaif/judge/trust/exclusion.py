"""Excludes judges from criteria on which they are significantly inaccurate.

Answers are known for canaries, and for judged segments with levels known from RAM. A judge is
excluded from a criterion once its answers are significantly too inaccurate (95 %), and included
again once it is accurate on later questions.
"""

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field

from rlaif.judge.trust.agreement import Confusion, upper_bound_of_share

ENOUGH = 6
"""Answers to canaries that suffice to detect that a judge always gives the same answer, or to
include it again."""

MIN_ACCURACY = 0.6
"""Share of correct answers below which, with 95 % confidence, a judge is excluded."""
MIN_KAPPA = 0.2
"""Cohen's kappa of votes and RAM below which, with 95 % confidence, a judge is excluded."""

_MAX_CANARIES = 16
_MAX_TRUTHS = 200
_MIN_CANARIES = 3
"""With fewer, two accidental errors would exclude a judge."""
_MIN_TRUTHS = 20
_MIN_OF_RARER_LEVELS = 5
"""Minimum known levels besides the most frequent one; with fewer, kappa is unreliable."""
_Z = 1.645
"""Normal quantile: 95 %, one-sided."""


@dataclass(frozen=True)
class KnownAnswer:
    """One answer to a question with a known answer.

    Attributes:
        known: The correct level.
        given: The judge's level; None if it abstained.
        right: Also False if the level is correct but the reason for it is wrong.
    """

    known: int
    given: int | None
    right: bool


@dataclass
class Record:
    """The newest answers of one judge on one criterion.

    Attributes:
        why_not: Reason of the judge's exclusion; None if it is not excluded.
    """

    canaries: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_MAX_CANARIES))
    truths: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_MAX_TRUTHS))
    why_not: str | None = None

    @property
    def right(self) -> int:
        return sum(answer.right for answer in self.canaries)


def update_exclusion(record: Record, *, by_canaries: bool) -> None:
    """Update `why_not` from the answers; only answers after an exclusion can end it.

    Without canaries, the levels known from RAM end it.
    """
    doubt = (
        doubt_of_accuracy(record.canaries, "known answers")
        or doubt_of_variety(record.canaries)
        or doubt_of_truth(record.truths)
    )
    if record.why_not is None and doubt is not None:
        record.why_not = doubt
        record.canaries.clear()
        record.truths.clear()
    elif record.why_not is not None and doubt is None:
        asked, enough = record.canaries, ENOUGH
        if not by_canaries:
            asked, enough = record.truths, _MIN_TRUTHS
        right = sum(answer.right for answer in asked)
        if len(asked) >= enough and right >= MIN_ACCURACY * len(asked):
            record.why_not = None


def doubt_of_accuracy(answers: Collection[KnownAnswer], what: str) -> str | None:
    """A message if significantly too few answers are correct, else None."""
    number, right = len(answers), sum(answer.right for answer in answers)
    if number < _MIN_CANARIES or upper_bound_of_share(right, number, z=_Z) >= MIN_ACCURACY:
        return None
    return f"{right} of {number} {what} right"


def doubt_of_variety(answers: Collection[KnownAnswer]) -> str | None:
    """A message if all answers are equal although the known ones differ, else None."""
    known, given = {a.known for a in answers}, {a.given for a in answers}
    if len(answers) < ENOUGH or len(known) < 2 or len(given) > 1:
        return None
    level = given.pop()
    return f"always {'abstains' if level is None else f'answers {level}'}, to any question"


def doubt_of_truth(answers: Collection[KnownAnswer]) -> str | None:
    """A message if votes significantly disagree with RAM, else None."""
    if len(answers) < _MIN_TRUTHS:
        return None
    known = Counter(answer.known for answer in answers)
    if len(answers) - max(known.values()) < _MIN_OF_RARER_LEVELS:
        return doubt_of_accuracy(answers, "levels of the RAM")
    confusion = Confusion()
    for answer in answers:
        if answer.given is not None:
            confusion.count(answer.known, answer.given)
    kappa, error = confusion.kappa, confusion.kappa_error
    if kappa is None or error is None or kappa + _Z * error >= MIN_KAPPA:
        return None
    return f"kappa {kappa:.2f} with the RAM on {confusion.votes} segments"
