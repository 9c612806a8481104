"""Whom to believe on what: each judge's newest answers to what is known, criterion by criterion.

Known are the canaries, and the levels that the game's RAM is sure of on segments that were asked.
A judge is believed on a criterion until its answers are surely too bad, and after that once it does
well again on questions asked since: chance alone moves nobody to and fro.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rlaif.judge.settings import TrustSettings
from rlaif.judge.trust.agreement import Confusion, most_likely_share

_CANARIES = 16
"""Newest canary answers of one criterion that count."""
_TRUTHS = 200
"""Newest segments with a level of the RAM that count."""
_LEAST_ANSWERS = 3
"""With fewer, two slips would be a verdict."""
ENOUGH = 6
"""Answers to canaries that are enough for a verdict: that all are alike where the known ones
differ, or that a judge which was not believed does well again."""
_LEAST_TRUTHS = 20
_LEAST_OF_A_LEVEL = 5
"""Known levels other than the commonest, below which kappa hangs on a few segments."""
_SURELY = 1.645
"""Normal quantile: 95 %, one-sided."""


@dataclass(frozen=True)
class KnownAnswer:
    """One answer to what is known.

    Attributes:
        known: The level that is right.
        said: The level that the judge gave; None when it abstained.
        right: False also where the level fits and the reason for it does not.
    """

    known: int
    said: int | None
    right: bool


@dataclass
class Record:
    """What one judge said of what is known of one criterion, the newest answers.

    Attributes:
        why_not: Why it is not believed, in a few words; None while it is.
    """

    canaries: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_CANARIES))
    truths: deque[KnownAnswer] = field(default_factory=lambda: deque(maxlen=_TRUTHS))
    why_not: str | None = None

    @property
    def right(self) -> int:
        """Canary answers that were right, of those that count."""
        return sum(answer.right for answer in self.canaries)


class Beliefs:
    """The records of all judges of this process."""

    def __init__(self, criteria: Mapping[str, str], settings: TrustSettings) -> None:
        """`criteria` says criterion → its judge."""
        self._settings = settings
        self._judges = dict(criteria)
        self.records = {name: Record() for name in criteria}

    def told(self, criterion: str, answers: Iterable[KnownAnswer]) -> str | None:
        """Note answers to canaries; gives why the judge is not believed now."""
        record = self.records[criterion]
        record.canaries.extend(answers)
        return self._weigh(record)

    def heard(self, criterion: str, known: int, said: int) -> str | None:
        """Note the vote on one segment whose level is known; gives why it is not believed now."""
        record = self.records[criterion]
        record.truths.append(KnownAnswer(known, said, known == said))
        return self._weigh(record)

    def distrusted(self) -> Mapping[str, frozenset[str]]:
        """Judge → criteria on which its votes do not count; only judges that have some."""
        found: dict[str, set[str]] = {}
        for name, record in self.records.items():
            if record.why_not is not None:
                found.setdefault(self._judges[name], set()).add(name)
        return {judge: frozenset(names) for judge, names in found.items()}

    def why_not(self, judge: str) -> dict[str, str]:
        """Criterion → why a judge is not believed on it."""
        return {
            name: record.why_not
            for name, record in self.records.items()
            if self._judges[name] == judge and record.why_not is not None
        }

    def _weigh(self, record: Record) -> str | None:
        doubt = self._doubt(record)
        if record.why_not is None and doubt is not None:
            record.why_not = doubt
            # What counts from now on is how it does from now on.
            record.canaries.clear()
            record.truths.clear()
        elif record.why_not is not None and doubt is None and self._recovered(record):
            record.why_not = None
        return record.why_not

    def _doubt(self, record: Record) -> str | None:
        return (
            doubt_of_accuracy(record.canaries, "known answers", self._settings.least_accuracy)
            or doubt_of_variety(record.canaries)
            or doubt_of_truth(record.truths, self._settings)
        )

    def _recovered(self, record: Record) -> bool:
        asked, enough = record.canaries, ENOUGH
        if not self._settings.by_canaries:
            asked, enough = record.truths, _LEAST_TRUTHS
        right = sum(answer.right for answer in asked)
        return len(asked) >= enough and right >= self._settings.least_accuracy * len(asked)


def doubt_of_accuracy(
    answers: Iterable[KnownAnswer], what: str, least_accuracy: float
) -> str | None:
    """Why so many wrong answers are no accident; None when they may be."""
    found = list(answers)
    right = sum(answer.right for answer in found)
    if len(found) < _LEAST_ANSWERS:
        return None
    if most_likely_share(right, len(found), z=_SURELY) >= least_accuracy:
        return None
    return f"{right} of {len(found)} {what} right"


def doubt_of_variety(answers: Iterable[KnownAnswer]) -> str | None:
    """Whether all answers are alike where the known ones differ; None when they are not."""
    found = list(answers)
    known = Counter(answer.known for answer in found)
    if len(found) < ENOUGH or len(known) < 2 or len({a.said for a in found}) > 1:
        return None
    said = "nothing" if found[0].said is None else f"always {found[0].said}"
    return f"says {said}, whatever is known"


def doubt_of_truth(answers: Iterable[KnownAnswer], settings: TrustSettings) -> str | None:
    """Why votes surely do not follow the RAM; None when they may."""
    found = list(answers)
    if len(found) < _LEAST_TRUTHS:
        return None
    known = Counter(answer.known for answer in found)
    if len(found) - max(known.values()) < _LEAST_OF_A_LEVEL:
        return doubt_of_accuracy(found, "levels of the RAM", settings.least_accuracy)
    confusion = Confusion()
    for answer in found:
        if answer.said is not None:
            confusion.count(answer.known, answer.said)
    kappa, error = confusion.kappa, confusion.kappa_error
    if kappa is None or error is None or kappa + _SURELY * error >= settings.least_kappa:
        return None
    return f"kappa {kappa:.2f} with the RAM on {confusion.votes} segments"
