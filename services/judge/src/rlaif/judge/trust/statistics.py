"""Statistics of the judges: calls, abstentions, accuracy, position bias, cost of a label."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, Field, computed_field

from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.panel import Results
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.agreement import Confusion
from rlaif.judge.trust.exclusion import Record

_MAX_RECENT_CALLS = 2000
_DECIDED = ("first", "second")


def votes_with_truth(record: ScoreRecord) -> Iterator[tuple[str, CriterionScore, int]]:
    """Yield (criterion, votes, level known from RAM) of a score and its audits."""
    for name, score in {**record.criteria, **record.audits}.items():
        known = record.known_level(name)
        if known is not None and score.source == "votes":
            yield name, score, known


class PairStatistics(BaseModel):
    """Comparisons of a judge since the start of the service."""

    pairs: int = 0
    both_answered: int = Field(default=0, exclude=True)
    agreed: int = Field(default=0, exclude=True)
    preferring: int = Field(default=0, exclude=True)
    preferring_first_shown: int = Field(default=0, exclude=True)

    def compared(self, record: ComparisonRecord) -> None:
        straight, swapped = record.first_shown_first, record.second_shown_first
        self.pairs += 1
        if straight is not None and swapped is not None:
            self.both_answered += 1
            self.agreed += straight == swapped
        self.preferring += (straight in _DECIDED) + (swapped in _DECIDED)
        self.preferring_first_shown += (straight == "first") + (swapped == "second")

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def first_slot(self) -> float | None:
        """Share of its preferences for the segment shown first; 0.5 is unbiased."""
        return self.preferring_first_shown / self.preferring if self.preferring else None

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def consistency(self) -> float | None:
        """Share of the pairs answered in both orders whose answers agree, ties included."""
        return self.agreed / self.both_answered if self.both_answered else None


class CriterionStatistics(BaseModel):
    """One judge on one criterion since the start of the service."""

    asked: int = Field(
        default=0, description="Segments on which it was asked and the criterion applies."
    )
    abstained: Counter[str] = Field(
        default_factory=Counter, description="Reason → number of them without a score."
    )
    truth: Confusion = Field(default_factory=Confusion)
    record: Record = Field(default_factory=Record, exclude=True)

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def abstain_rate(self) -> float | None:
        return self.abstained.total() / self.asked if self.asked else None

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def why_not(self) -> str | None:
        """Reason of its exclusion; null if it is not excluded."""
        return self.record.why_not

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def believed(self) -> bool:
        return self.why_not is None

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def canaries(self) -> int:
        """Newest answers to control questions."""
        return len(self.record.canaries)

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def canaries_right(self) -> int:
        return self.record.right


class JudgeStatistics(BaseModel):
    """Statistics of a judge since the start of the service. Rates are null without data."""

    outcomes: Counter[str] = Field(default_factory=Counter, description="Calls by outcome.")
    recent: deque[str] = Field(
        default_factory=lambda: deque(maxlen=_MAX_RECENT_CALLS), exclude=True
    )
    cached_answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    criteria: dict[str, CriterionStatistics] = Field(default_factory=dict)
    comparisons: PairStatistics = Field(default_factory=PairStatistics)
    model: str | None = Field(default=None, exclude=True)
    """Of the last answer."""

    def called(self, record: JudgeCallRecord) -> None:
        self.model = record.model if record.answer is not None else self.model
        if record.cached:
            self.cached_answers += 1
            return
        outcome = reported_outcome(record)
        self.outcomes[outcome] += 1
        self.recent.append(outcome)
        self.seconds += record.latency_seconds
        self.prompt_tokens += record.prompt_tokens or 0
        self.completion_tokens += record.completion_tokens or 0

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def abstain_rate(self) -> float | None:
        asked = sum(each.asked for each in self.criteria.values())
        return sum(c.abstained.total() for c in self.criteria.values()) / asked if asked else None

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def believed(self) -> bool:
        """False if it is excluded for any criterion."""
        return all(each.believed for each in self.criteria.values())

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def parse_fail_rate(self) -> float | None:
        """Share of unreadable answers among the newest 2,000 calls; None without calls."""
        if not self.recent:
            return None
        return sum(outcome in ("invalid", "length") for outcome in self.recent) / len(self.recent)


class Statistics:
    """Statistics of all judges of this process, by name.

    Attributes:
        labels: Segments with a weighted score.
    """

    def __init__(self, criteria: Mapping[str, str]) -> None:
        """`criteria` maps criteria to judges."""
        self._criteria = criteria
        self.judges = {name: JudgeStatistics() for name in dict.fromkeys(criteria.values())}
        for criterion, judge in criteria.items():
            self.judges[judge].criteria[criterion] = CriterionStatistics()
        self.labels = 0

    def of(self, criterion: str) -> CriterionStatistics:
        return self.judges[self._criteria[criterion]].criteria[criterion]

    def called(self, record: JudgeCallRecord) -> None:
        self.judges.setdefault(record.judge, JudgeStatistics()).called(record)

    def heard(self, results: Results) -> None:
        """Count the results of one segment on the requested criteria."""
        for name, found in results.items():
            criterion = self.of(name)
            criterion.asked += 1
            if isinstance(found, NoVote):
                criterion.abstained[found.value] += 1

    def scored(self, record: ScoreRecord) -> None:
        self.labels += record.weighted is not None
        for name, score, known in votes_with_truth(record):
            for level in score.votes:
                self.of(name).truth.count(known, level)

    def compared(self, record: ComparisonRecord) -> PairStatistics:
        """Count a comparison; returns the statistics of its judge."""
        pairs = self.judges.setdefault(record.judge, JudgeStatistics()).comparisons
        pairs.compared(record)
        return pairs

    @property
    def tokens_per_label(self) -> float | None:
        return self._tokens / self.labels if self.labels else None

    @property
    def seconds_per_label(self) -> float | None:
        return sum(j.seconds for j in self.judges.values()) / self.labels if self.labels else None

    @property
    def _tokens(self) -> int:
        return sum(j.prompt_tokens + j.completion_tokens for j in self.judges.values())
