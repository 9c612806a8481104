"""Excludes judges from criteria on which their answers to known questions are bad.

Known are the answers to canaries, and the levels that the game's RAM determines on segments that
were judged. A judge is excluded from a criterion once its answers are significantly too bad (95 %),
and included again once it does well on questions asked since.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rlaif.judge.settings import TrustSettings
from rlaif.judge.trust.agreement import Confusion, upper_bound_of_share

ENOUGH = 6
"""Answers to canaries that suffice to find that a judge always answers the same, or to include it
again."""

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
        """Right answers to canaries."""
        return sum(answer.right for answer in self.canaries)


class Exclusions:
    """The records of all judges of this process."""

    def __init__(self, criteria: Mapping[str, str], settings: TrustSettings) -> None:
        """`criteria` is criterion → judge."""
        self._settings = settings
        self._judges = dict(criteria)
        self.records = {name: Record() for name in criteria}

    def add_canaries(self, criterion: str, answers: Iterable[KnownAnswer]) -> None:
        """Add answers to canaries."""
        record = self.records[criterion]
        record.canaries.extend(answers)
        self._update(record)

    def add_truth(self, criterion: str, known: int, given: int) -> None:
        """Add the vote on a segment whose level the RAM determines."""
        record = self.records[criterion]
        record.truths.append(KnownAnswer(known, given, known == given))
        self._update(record)

    def excluded(self) -> Mapping[str, frozenset[str]]:
        """Judge → criteria from which it is excluded; only judges that have some."""
        found: dict[str, set[str]] = {}
        for name, record in self.records.items():
            if record.why_not is not None:
                found.setdefault(self._judges[name], set()).add(name)
        return {judge: frozenset(names) for judge, names in found.items()}

    def reasons(self, judge: str) -> dict[str, str]:
        """Criterion → why the judge is excluded from it."""
        return {
            name: record.why_not
            for name, record in self.records.items()
            if self._judges[name] == judge and record.why_not is not None
        }

    def _update(self, record: Record) -> None:
        doubt = (
            doubt_of_accuracy(record.canaries, "known answers", self._settings.least_accuracy)
            or doubt_of_variety(record.canaries)
            or doubt_of_truth(record.truths, self._settings)
        )
        if record.why_not is None and doubt is not None:
            record.why_not = doubt
            # Only answers given from now on count for inclusion.
            record.canaries.clear()
            record.truths.clear()
        elif record.why_not is not None and doubt is None and self._recovered(record):
            record.why_not = None

    def _recovered(self, record: Record) -> bool:
        asked, enough = record.canaries, ENOUGH
        if not self._settings.by_canaries:
            asked, enough = record.truths, _MIN_TRUTHS
        right = sum(answer.right for answer in asked)
        return len(asked) >= enough and right >= self._settings.least_accuracy * len(asked)


def doubt_of_accuracy(
    answers: Iterable[KnownAnswer], what: str, least_accuracy: float
) -> str | None:
    """A message if significantly too few answers are right."""
    found = list(answers)
    right = sum(answer.right for answer in found)
    if len(found) < _MIN_CANARIES:
        return None
    if upper_bound_of_share(right, len(found), z=_Z) >= least_accuracy:
        return None
    return f"{right} of {len(found)} {what} right"


def doubt_of_variety(answers: Iterable[KnownAnswer]) -> str | None:
    """A message if all answers are the same while the known ones differ."""
    found = list(answers)
    known = {answer.known for answer in found}
    if len(found) < ENOUGH or len(known) < 2 or len({answer.given for answer in found}) > 1:
        return None
    given = "abstains" if found[0].given is None else f"answers {found[0].given}"
    return f"always {given}, whatever is known"


def doubt_of_truth(answers: Iterable[KnownAnswer], settings: TrustSettings) -> str | None:
    """A message if votes significantly fail to agree with the RAM."""
    found = list(answers)
    if len(found) < _MIN_TRUTHS:
        return None
    known = Counter(answer.known for answer in found)
    if len(found) - max(known.values()) < _MIN_OF_RARER_LEVELS:
        return doubt_of_accuracy(found, "levels of the RAM", settings.least_accuracy)
    confusion = Confusion()
    for answer in found:
        if answer.given is not None:
            confusion.count(answer.known, answer.given)
    kappa, error = confusion.kappa, confusion.kappa_error
    if kappa is None or error is None or kappa + _Z * error >= settings.least_kappa:
        return None
    return f"kappa {kappa:.2f} with the RAM on {confusion.votes} segments"
