"""The judge's metrics; `docs/metrics.md` lists them."""

from collections import defaultdict, deque
from statistics import fmean

from rlaif.contracts.judging.comparisons import ComparisonRecord, WhyCompared
from rlaif.contracts.judging.quest import level_of_rise
from rlaif.contracts.judging.scores import JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.panel import Results
from rlaif.judge.rubric.judges import JUDGES, Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.exclusion import Record
from rlaif.judge.trust.statistics import Statistics, votes_with_truth
from rlaif.service.metrics import ServiceMetrics

_RISES = ("away", "same", "closer")
"""Labels of the levels of a rise."""

_COUNTERS: dict[str, tuple[str, str]] = {
    "calls": (
        "Calls of language models by outcome; `invalid` is a parse failure, `length` that of a "
        "truncated answer.",
        "judge outcome",
    ),
    "tokens": ("Tokens read (`prompt`) and written (`completion`).", "judge kind"),
    "scores": (
        "Segments: scored, partly scored, without a score, scored earlier, or judged again "
        "because the score was provisional.",
        "result",
    ),
    "quests": (
        "New scores by progress on the quest: `closer`, `same`, `away`, or `unknown`.",
        "result",
    ),
    "abstentions": ("Criteria without a score, by reason.", "criterion reason"),
    "asked": (
        "Applicable criteria requested from a judge, by result: `scored`, or the reason.",
        "judge criterion result",
    ),
    "truth_votes": (
        "Votes on segments with a level known from RAM, by that level and the vote.",
        "judge criterion known voted",
    ),
    "comparisons": ("Pairs to be compared in both orders, by reason and result.", "why result"),
}
"""Name → (description, labels)."""

_GAUGES: dict[str, tuple[str, str]] = {
    "tokens_per_label": ("Tokens of all judges per segment with a weighted score.", ""),
    "seconds_per_label": ("Seconds of model calls per segment with a weighted score.", ""),
    "judged_share_ratio": (
        "Share of a score's weight decided by votes, mean of the last 100 scores; the rest is "
        "computed from RAM.",
        "",
    ),
    "agreement_ratio": (
        "Share of votes for the majority level, mean of the last 100 scores.",
        "criterion",
    ),
    "truth_kappa": ("Cohen's kappa of votes and RAM; 0 is chance.", "judge criterion"),
    "canary_accuracy_ratio": (
        "Share of correct answers among the newest answers to canaries.",
        "judge criterion",
    ),
    "believed": ("1: its votes count; 0: it is excluded.", "judge criterion"),
    "comparison_first_slot_ratio": (
        "Share of the preferences for the segment shown first; 0.5 is unbiased.",
        "judge",
    ),
    "comparison_consistency_ratio": (
        "Share of the pairs answered in both orders whose two answers agree.",
        "judge",
    ),
    "tokens_today": (
        "Tokens of this day (UTC); with JUDGE_TOKENS_PER_DAY those of all replicas.",
        "",
    ),
}


class JudgeMetrics:
    """Prometheus metrics; `statistics` has the same data by judge, for REST."""

    def __init__(self, metrics: ServiceMetrics, judges: tuple[Judge, ...] = JUDGES) -> None:
        self._judge_of = {c.name: judge.name for judge in judges for c in judge.criteria}
        self.statistics = Statistics(self._judge_of)
        self._counters = {
            name: metrics.counter(name, text, tuple(labels.split()))
            for name, (text, labels) in _COUNTERS.items()
        }
        self._gauges = {
            name: metrics.gauge(name, text, tuple(labels.split()))
            for name, (text, labels) in _GAUGES.items()
        }
        self._call_seconds = metrics.histogram(
            "call_seconds", "Time of one call of a language model.", ("judge",)
        )
        self._recent: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=100))

    def called(self, record: JudgeCallRecord) -> None:
        self.statistics.called(record)
        if record.cached:
            return
        self._count("calls", record.judge, reported_outcome(record))
        self._call_seconds.labels(record.judge).observe(record.latency_seconds)
        self._count("tokens", record.judge, "prompt", by=record.prompt_tokens or 0)
        self._count("tokens", record.judge, "completion", by=record.completion_tokens or 0)

    def scored(self, record: ScoreRecord) -> None:
        stats = self.statistics
        stats.scored(record)
        partly = "partial" if record.abstentions else "scored"
        self._count("scores", "abstained" if record.weighted is None else partly)
        for criterion, reason in record.abstentions.items():
            self._count("abstentions", criterion, reason)
        for criterion, score in record.criteria.items():
            self._set("agreement_ratio", self._mean(criterion, score.agreement), criterion)
        if record.criteria:
            share = record.decided_by.get("votes", 0.0)
            self._set("judged_share_ratio", self._mean("judged share", share))
        rise = record.quest.rise if record.quest else None
        self._count("quests", "unknown" if rise is None else _RISES[level_of_rise(rise)])
        for criterion, score, known in votes_with_truth(record):
            for level in score.votes:
                self._count("truth_votes", score.judge, criterion, str(known), str(level))
            self._set("truth_kappa", stats.of(criterion).truth.kappa, score.judge, criterion)
        self._set("tokens_per_label", stats.tokens_per_label)
        self._set("seconds_per_label", stats.seconds_per_label)

    def spent(self, tokens: int) -> None:
        self._set("tokens_today", tokens)

    def repeated(self) -> None:
        """Count an event of an already scored segment."""
        self._count("scores", "repeated")

    def judged_again(self) -> None:
        self._count("scores", "judged_again")

    def heard(self, results: Results) -> None:
        """Count the results of one segment on the requested criteria."""
        self.statistics.heard(results)
        for criterion, found in results.items():
            result = found.value if isinstance(found, NoVote) else "scored"
            self._count("asked", self._judge_of[criterion], criterion, result)

    def known(self, judge: str, criterion: str, record: Record) -> None:
        """Set the answers of a judge to control questions on a criterion."""
        self.statistics.of(criterion).record = record
        self._set("believed", record.why_not is None, judge, criterion)
        if record.canaries:
            accuracy = record.right / len(record.canaries)
            self._set("canary_accuracy_ratio", accuracy, judge, criterion)

    def compared(self, why: WhyCompared, result: str, record: ComparisonRecord | None) -> None:
        """Count a comparison.

        Results with a `record`: `decided`, `tie`, `orders_disagree`, `unanswered`; without one:
        `outage`, `unreadable`, `provisional`, `two_games`, `too_long`, or `repeated` if another
        replica has stored a record already.
        """
        self._count("comparisons", why, result)
        if record is not None:
            pairs = self.statistics.compared(record)
            self._set("comparison_first_slot_ratio", pairs.first_slot, record.judge)
            self._set("comparison_consistency_ratio", pairs.consistency, record.judge)

    def _count(self, name: str, *labels: str, by: int = 1) -> None:
        self._counters[name].labels(*labels).inc(by)

    def _set(self, name: str, value: float | None, *labels: str) -> None:
        if value is not None:
            gauge = self._gauges[name]
            (gauge.labels(*labels) if labels else gauge).set(value)

    def _mean(self, name: str, value: float) -> float:
        """Mean of the last 100 values."""
        self._recent[name].append(value)
        return fmean(self._recent[name])
