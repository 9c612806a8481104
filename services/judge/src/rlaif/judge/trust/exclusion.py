"""Excludes judges from criteria on which their answers to known questions are bad.

Known are the answers to canaries, and the levels that the game's RAM determines on segments that
were judged. A judge is excluded from a criterion once its answers are significantly too bad (95 %),
and included again once it does well on questions asked since.
"""

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field

from rlaif.judge.trust.agreement import Confusion, upper_bound_of_share

ENOUGH = 6
"""Answers to canaries that suffice to find that a judge always answers the same, or to include it
again."""

MIN_ACCURACY = 0.6
"""Share of right answers below which, with 95 % confidence, a judge is excluded."""
MIN_KAPPA = 0.2
"""Cohen's kappa of votes and RAM below which, with 95 % confidence, it is."""

_MAX_CANARIES = 16
_MAX_TRUTHS = 200
_MIN_CANARIES = 3
"""With fewer, two accidental errors would exclude a judge."""
_MIN_TRUTHS = 20
_MIN_OF_RARER_LEVELS = 5
"""Known levels other than the commonest one; with fewer, kappa depends on a few segments."""
_Z = 1.645
"""Normal quantile: 95 %, one-sided."""


@dataclass(frozen=True)
class KnownAnswer:
    """One answer to a question with a known answer.

    Attributes:
        known: The right level.
        given: The judge's level; None when it abstained.
        right: False also when the level is right, but the reason for it is wrong.
    """

    known: int
    given: int | None
    right: bool


@dataclass
class Record:
    """The newest answers of one judge on one criterion.

    Attributes:
        why_not: Why the judge is excluded; None while it is not.
    """

    canaries: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_MAX_CANARIES))
    truths: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_MAX_TRUTHS))
    why_not: str | None = None

    @property
    def right(self) -> int:
        return sum(answer.right for answer in self.canaries)


def update_exclusion(record: Record, *, by_canaries: bool) -> None:
    """Set `why_not` by the answers; only answers given since an exclusion can end it.

    Without canaries, the levels of the RAM end it.
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
    """A message if significantly too few answers are right."""
    number, right = len(answers), sum(answer.right for answer in answers)
    if number < _MIN_CANARIES or upper_bound_of_share(right, number, z=_Z) >= MIN_ACCURACY:
        return None
    return f"{right} of {number} {what} right"


def doubt_of_variety(answers: Collection[KnownAnswer]) -> str | None:
    """A message if all answers are the same while the known ones differ."""
    known, given = {a.known for a in answers}, {a.given for a in answers}
    if len(answers) < ENOUGH or len(known) < 2 or len(given) > 1:
        return None
    level = given.pop()
    return f"always {'abstains' if level is None else f'answers {level}'}, whatever is known"


def doubt_of_truth(answers: Collection[KnownAnswer]) -> str | None:
    """A message if votes significantly fail to agree with the RAM."""
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
