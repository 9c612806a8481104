"""The judge's metrics; `docs/metrics.md` lists them."""

from collections import defaultdict, deque
from statistics import fmean

from rlaif.contracts.judging.comparisons import ComparisonRecord, WhyCompared
from rlaif.contracts.judging.quest import level_of_rise
from rlaif.contracts.judging.scores import JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.counting import Results
from rlaif.judge.rubric.judges import JUDGES, Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.exclusion import Record
from rlaif.judge.trust.statistics import Statistics
from rlaif.llm.ports import ModelError
from rlaif.service.metrics import ServiceMetrics

_RISES = ("away", "same", "closer")
"""Labels of the levels of a rise."""

_COUNTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "calls": (
        "Calls of language models by outcome; `invalid` is a parse failure, `length` that of "
        "an answer that was cut off.",
        ("judge", "outcome"),
    ),
    "cached_answers": (
        "Answers to equal requests that cost no call.",
        ("judge",),
    ),
    "tokens": (
        "Tokens read (`prompt`) and written (`completion`).",
        ("judge", "kind"),
    ),
    "scores": (
        "Segments: scored, partly scored, without a score, scored before, or judged again "
        "because the score was provisional.",
        ("result",),
    ),
    "quests": (
        "New scores by progress on the quest: `closer`, `same`, `away`, or `unknown`.",
        ("result",),
    ),
    "abstentions": (
        "Criteria without a score, by reason.",
        ("criterion", "reason"),
    ),
    "asked": (
        "Criteria that a judge was asked for and that apply, by result: `scored`, or why not.",
        ("judge", "criterion", "result"),
    ),
    "votes": (
        "Valid votes, by level.",
        ("criterion", "level"),
    ),
    "truth_votes": (
        "Votes on segments whose level the RAM determines, by that level and the vote.",
        ("judge", "criterion", "known", "voted"),
    ),
    "comparisons": (
        "Pairs to be compared in both orders, by reason and result.",
        ("why", "result"),
    ),
    "route_checks": (
        "Probes of a route, by modality and outcome.",
        ("judge", "kind", "outcome"),
    ),
}
"""Name → (description, labels)."""

_GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "tokens_per_label": (
        "Tokens of all judges per segment with a weighted score.",
        (),
    ),
    "tokens_per_useful_label": (
        "Tokens of all judges per segment with new evidence on which votes decided a learned "
        "criterion, or comparison in which both orders agreed.",
        (),
    ),
    "seconds_per_label": (
        "Seconds of model calls per segment with a weighted score.",
        (),
    ),
    "judged_share_ratio": (
        "Share of the weight of a score that votes decided, mean of the last 100 scores; the "
        "rest is computed from the RAM.",
        (),
    ),
    "agreement_ratio": (
        "Share of votes equal to the commonest one, mean of the last 100 scores.",
        ("criterion",),
    ),
    "truth_kappa": (
        "Cohen's kappa of votes and RAM; 0 is chance.",
        ("judge", "criterion"),
    ),
    "canary_accuracy_ratio": (
        "Share of right answers among the newest answers to canaries.",
        ("judge", "criterion"),
    ),
    "believed": (
        "1: its votes count; 0: it is excluded.",
        ("judge", "criterion"),
    ),
    "comparison_first_slot_ratio": (
        "Share of the preferences for the segment shown first; 0.5 is unbiased.",
        ("judge",),
    ),
    "comparison_consistency_ratio": (
        "Share of the pairs answered in both orders whose two answers agree.",
        ("judge",),
    ),
    "tokens_today": (
        "Tokens of this day (UTC); with JUDGE_TOKENS_PER_DAY those of all replicas.",
        (),
    ),
}


class JudgeMetrics:
    """Prometheus metrics; `statistics` has the same by judge, for REST."""

    def __init__(self, metrics: ServiceMetrics, judges: tuple[Judge, ...] = JUDGES) -> None:
        self._judge_of = {c.name: judge.name for judge in judges for c in judge.criteria}
        self.statistics = Statistics(self._judge_of)
        self._counters = {n: metrics.counter(n, *each) for n, each in _COUNTERS.items()}
        self._gauges = {n: metrics.gauge(n, *each) for n, each in _GAUGES.items()}
        self._call_seconds = metrics.histogram(
            "call_seconds", "Time of one call of a language model.", ("judge",)
        )
        self._recent: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=100))
        self._recent_judged: deque[float] = deque(maxlen=100)

    def called(self, record: JudgeCallRecord) -> None:
        """Count one call."""
        self.statistics.called(record)
        if record.cached:
            self._counters["cached_answers"].labels(record.judge).inc()
            return
        self._counters["calls"].labels(record.judge, reported_outcome(record)).inc()
        self._call_seconds.labels(record.judge).observe(record.latency_seconds)
        self._counters["tokens"].labels(record.judge, "prompt").inc(record.prompt_tokens or 0)
        self._counters["tokens"].labels(record.judge, "completion").inc(
            record.completion_tokens or 0
        )

    def scored(self, record: ScoreRecord) -> None:
        """Count a new score."""
        self.statistics.scored(record)
        partly = "partial" if record.abstentions else "scored"
        self._counters["scores"].labels("abstained" if record.weighted is None else partly).inc()
        for criterion, reason in record.abstentions.items():
            self._counters["abstentions"].labels(criterion, reason).inc()
        for criterion, score in record.criteria.items():
            for level in score.votes:
                self._counters["votes"].labels(criterion, str(level)).inc()
            self._recent[criterion].append(score.agreement)
            self._gauges["agreement_ratio"].labels(criterion).set(fmean(self._recent[criterion]))
        if record.criteria:
            self._recent_judged.append(record.decided_by.get("votes", 0.0))
            self._gauges["judged_share_ratio"].set(fmean(self._recent_judged))
        rise = record.quest.rise if record.quest else None
        self._counters["quests"].labels(
            "unknown" if rise is None else _RISES[level_of_rise(rise)]
        ).inc()
        self._compare_with_truth(record)
        if self.statistics.tokens_per_label is not None:
            self._gauges["tokens_per_label"].set(self.statistics.tokens_per_label)
            self._gauges["seconds_per_label"].set(self.statistics.seconds_per_label or 0.0)
        if self.statistics.tokens_per_useful_label is not None:
            self._gauges["tokens_per_useful_label"].set(self.statistics.tokens_per_useful_label)

    def spent(self, tokens: int) -> None:
        self._gauges["tokens_today"].set(tokens)

    def route_probed(self, judge: str, kind: str, error: ModelError | None) -> None:
        self._counters["route_checks"].labels(judge, kind, error.fault if error else "ok").inc()

    def repeated(self) -> None:
        """Count an event of a segment that has a score already."""
        self._counters["scores"].labels("repeated").inc()

    def judged_again(self) -> None:
        """Count a replaced provisional score."""
        self._counters["scores"].labels("judged_again").inc()

    def heard(self, results: Results) -> None:
        """Count the results of one segment, on the criteria that judges were asked for."""
        self.statistics.heard(results)
        for criterion, found in results.items():
            result = found.value if isinstance(found, NoVote) else "scored"
            self._counters["asked"].labels(self._judge_of[criterion], criterion, result).inc()

    def known(self, judge: str, criterion: str, record: Record) -> None:
        """Set the answers of a judge to control questions on a criterion."""
        self.statistics.known(criterion, record)
        self._gauges["believed"].labels(judge, criterion).set(record.why_not is None)
        if record.canaries:
            self._gauges["canary_accuracy_ratio"].labels(judge, criterion).set(
                record.right / len(record.canaries)
            )

    def compared(self, why: WhyCompared, result: str, record: ComparisonRecord | None) -> None:
        """Count a comparison.

        Results with a `record`: `decided`, `tie`, `orders_disagree`, `unanswered`; without one:
        `outage`, `unreadable`, `provisional`, `no_pictures`, `two_games`, `too_long`, or `repeated`
        when another judge stored a record before.
        """
        self._counters["comparisons"].labels(why, result).inc()
        if record is None:
            return
        pairs = self.statistics.compared(record)
        if pairs.first_slot is not None:
            self._gauges["comparison_first_slot_ratio"].labels(record.judge).set(pairs.first_slot)
        if pairs.consistency is not None:
            self._gauges["comparison_consistency_ratio"].labels(record.judge).set(pairs.consistency)

    def _compare_with_truth(self, record: ScoreRecord) -> None:
        for criterion, score in {**record.criteria, **record.audits}.items():
            known = record.known_level(criterion)
            if known is None or score.source != "votes":
                continue
            for level in score.votes:
                self._counters["truth_votes"].labels(
                    score.judge, criterion, str(known), str(level)
                ).inc()
            kappa = self.statistics.of(criterion).truth.kappa
            if kappa is not None:
                self._gauges["truth_kappa"].labels(score.judge, criterion).set(kappa)
