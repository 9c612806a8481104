"""How each judge stands: how often it answers, abstains, is right, and what a label costs."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.trust.agreement import Confusion
from rlaif.judge.trust.canaries import CanaryResult
from rlaif.judge.trust.place_bias import PairStanding

_WINDOW = 2000


@dataclass
class JudgeStanding:
    """What one judge did since the service started; rates are over its newest calls.

    Attributes:
        cached: Answers that cost no call.
        asked: Criteria that it was asked for, times segments; of these, `abstained` have no score.
        truth: Criterion → its votes against the level that the RAM decides.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    asked: int = 0
    abstained: int = 0
    truth: dict[str, Confusion] = field(default_factory=dict)
    canaries: CanaryResult | None = None
    believed: bool = True
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
        return self.abstained / self.asked if self.asked else None


class Standings:
    """All judges of this process, by name."""

    def __init__(self, criteria: Mapping[str, str]) -> None:
        """`criteria` says criterion → judge."""
        self._criteria = criteria
        self.judges = {name: JudgeStanding() for name in dict.fromkeys(criteria.values())}
        self.labels = 0

    def called(self, record: JudgeCallRecord) -> None:
        """Note one call of any judge."""
        self.judges.setdefault(record.judge, JudgeStanding()).called(record)

    def scored(self, record: ScoreRecord) -> None:
        """Note a new score: a label when it has a weighted mean."""
        self.labels += record.weighted is not None
        for name, judge in self._criteria.items():
            asked = {call.judge for call in record.calls}
            score = record.audits.get(name) or record.criteria.get(name)
            if score is not None and score.source == "votes":
                self._voted(name, score, record.known_level(name))
            elif name in record.abstentions and judge in asked:
                self.judges[judge].asked += 1
                self.judges[judge].abstained += 1

    def _voted(self, name: str, score: CriterionScore, known: int | None) -> None:
        standing = self.judges.setdefault(score.judge, JudgeStanding())
        standing.asked += 1
        if known is not None:
            confusion = standing.truth.setdefault(name, Confusion())
            for level in score.votes:
                confusion.count(known, level)

    def compared(self, record: ComparisonRecord) -> PairStanding:
        """Note a comparison; gives how its judge stands with pairs."""
        pairs = self.judges.setdefault(record.judge, JudgeStanding()).pairs
        pairs.compared(record)
        return pairs

    def canaries(self, judge: str, result: CanaryResult, believed: bool) -> None:
        """Note what a judge made of the canaries."""
        self.judges[judge].canaries = result
        self.judges[judge].believed = believed

    @property
    def tokens_per_label(self) -> float | None:
        """Tokens of all judges over the useful labels; None before the first label."""
        spent = sum(j.prompt_tokens + j.completion_tokens for j in self.judges.values())
        return spent / self.labels if self.labels else None

    @property
    def seconds_per_label(self) -> float | None:
        """Seconds of model calls over the useful labels; None before the first label."""
        return sum(j.seconds for j in self.judges.values()) / self.labels if self.labels else None
