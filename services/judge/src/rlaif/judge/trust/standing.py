"""How each judge stands: how often it answers, abstains, is right, and what a label costs."""

from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.scores import LEARNED, CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.agreement import Confusion
from rlaif.judge.trust.belief import Record
from rlaif.judge.trust.place_bias import PairStanding

_WINDOW = 2000
_REMEMBERED = 10_000
"""Digests of evidence that are remembered, to tell what is judged for the first time."""


@dataclass
class CriterionStanding:
    """What one judge said on one criterion since the service started.

    Attributes:
        asked: Segments on which it was asked and there was something to judge.
        abstained: Reason → those of them without a score: too little evidence, split, unreadable…
        truth: Its votes against the level that the RAM decides.
        record: Its newest answers to what is known; None before the first.
    """

    asked: int = 0
    abstained: Counter[str] = field(default_factory=Counter)
    truth: Confusion = field(default_factory=Confusion)
    record: Record | None = None

    @property
    def abstain_rate(self) -> float | None:
        """Share of what was asked that has no score; None when nothing was."""
        return self.abstained.total() / self.asked if self.asked else None


@dataclass
class JudgeStanding:
    """What one judge did since the service started; rates of calls are over its newest ones.

    Attributes:
        cached: Answers that cost no call.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    criteria: dict[str, CriterionStanding] = field(default_factory=dict)
    pairs: PairStanding = field(default_factory=PairStanding)

    def called(self, record: JudgeCallRecord) -> None:
        """Note one call."""
        if record.cached:
            self.cached += 1
            return
        outcome = reported_outcome(record)
        self.outcomes[outcome] += 1
        self.recent.append(outcome)
        self.seconds += record.latency_seconds
        self.prompt_tokens += record.prompt_tokens or 0
        self.completion_tokens += record.completion_tokens or 0

    def share(self, *outcomes: str) -> float | None:
        """Share of the newest calls that ended in one of `outcomes`; None without calls."""
        if not self.recent:
            return None
        return sum(outcome in outcomes for outcome in self.recent) / len(self.recent)

    @property
    def abstain_rate(self) -> float | None:
        """Share of the criteria asked for that have no score; None when none was."""
        asked = sum(each.asked for each in self.criteria.values())
        return sum(c.abstained.total() for c in self.criteria.values()) / asked if asked else None

    @property
    def believed(self) -> bool:
        """Whether its votes count on everything that it judges."""
        records = [each.record for each in self.criteria.values()]
        return all(record is None or record.why_not is None for record in records)


class Standings:
    """All judges of this process, by name.

    Attributes:
        labels: Segments with a weighted score.
        useful: Segments on which votes decided something that is learned, and whose evidence was
            new; and comparisons in which both orders agreed.
    """

    def __init__(self, criteria: Mapping[str, str]) -> None:
        """`criteria` says criterion → judge."""
        self._criteria = criteria
        self.judges = {name: JudgeStanding() for name in dict.fromkeys(criteria.values())}
        for criterion, judge in criteria.items():
            self.judges[judge].criteria[criterion] = CriterionStanding()
        self.labels = 0
        self.useful = 0
        self._judged: OrderedDict[str, None] = OrderedDict()

    def called(self, record: JudgeCallRecord) -> None:
        """Note one call of any judge."""
        self.judges.setdefault(record.judge, JudgeStanding()).called(record)

    def of(self, criterion: str) -> CriterionStanding:
        """How the judge of a criterion does on it."""
        return self.judges[self._criteria[criterion]].criteria[criterion]

    def heard(self, said: Mapping[str, CriterionScore | NoVote]) -> None:
        """Note what judges said of one segment, on the criteria that they were asked for."""
        for name, found in said.items():
            standing = self.of(name)
            standing.asked += 1
            if isinstance(found, NoVote):
                standing.abstained[found.value] += 1

    def scored(self, record: ScoreRecord) -> None:
        """Note a new score: a label when it has a weighted mean."""
        self.labels += record.weighted is not None
        self.useful += self._is_useful(record)
        for name in self._criteria:
            score = record.audits.get(name) or record.criteria.get(name)
            known = record.known_level(name)
            if score is not None and score.source == "votes" and known is not None:
                for level in score.votes:
                    self.of(name).truth.count(known, level)

    def compared(self, record: ComparisonRecord) -> PairStanding:
        """Note a comparison; gives how its judge stands with pairs."""
        self.useful += record.soft in (0.0, 1.0)
        pairs = self.judges.setdefault(record.judge, JudgeStanding()).pairs
        pairs.compared(record)
        return pairs

    def _is_useful(self, record: ScoreRecord) -> bool:
        digest = record.evidence_sha256 or record.segment_id
        if digest in self._judged:
            return False
        self._judged[digest] = None
        if len(self._judged) > _REMEMBERED:
            self._judged.popitem(last=False)
        learned = (record.criteria.get(name) for name in LEARNED)
        return any(score is not None and score.source == "votes" for score in learned)

    def known(self, criterion: str, record: Record) -> None:
        """Note how a judge does on what is known of a criterion."""
        self.of(criterion).record = record

    @property
    def tokens_per_label(self) -> float | None:
        """Tokens of all judges over the labels; None before the first label."""
        return self._tokens / self.labels if self.labels else None

    @property
    def tokens_per_useful_label(self) -> float | None:
        """Tokens of all judges over the useful labels; None before the first one."""
        return self._tokens / self.useful if self.useful else None

    @property
    def seconds_per_label(self) -> float | None:
        """Seconds of model calls over the labels; None before the first label."""
        return sum(j.seconds for j in self.judges.values()) / self.labels if self.labels else None

    @property
    def _tokens(self) -> int:
        return sum(j.prompt_tokens + j.completion_tokens for j in self.judges.values())
