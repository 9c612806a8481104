"""The judge's metrics; `docs/metrics.md` lists them."""

from rlaif.contracts.scores import JudgeCallRecord, ScoreRecord
from rlaif.service.metrics import ServiceMetrics


class JudgeMetrics:
    """Counts calls, scores, votes and abstentions."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        """Make the metrics in `metrics`."""
        self._calls = metrics.counter(
            "calls", "Calls of language models, by how they ended.", ("judge", "outcome")
        )
        self._call_seconds = metrics.histogram(
            "call_seconds", "Time of one call of a language model.", ("judge",)
        )
        self._scores = metrics.counter(
            "scores",
            "Segments: scored, partly scored, without a score, or scored before.",
            ("result",),
        )
        self._agreement = metrics.gauge(
            "agreement_ratio",
            "Share of votes equal to the commonest one, mean of the last 100 scores.",
            ("criterion",),
        )
        self._abstentions = metrics.counter(
            "abstentions", "Criteria without a score, by reason.", ("criterion", "reason")
        )
        # A judge that always answers the same is broken, not consistent.
        self._votes = metrics.counter("votes", "Valid votes, by level.", ("criterion", "level"))
        self._recent: dict[str, list[float]] = {}

    def called(self, record: JudgeCallRecord) -> None:
        """Note one call."""
        self._calls.labels(record.judge, record.outcome).inc()
        self._call_seconds.labels(record.judge).observe(record.latency_seconds)

    def scored(self, record: ScoreRecord) -> None:
        """Note a new score object."""
        partly = "partial" if record.abstentions else "scored"
        self._scores.labels("abstained" if record.weighted is None else partly).inc()
        for criterion, reason in record.abstentions.items():
            self._abstentions.labels(criterion, reason).inc()
        for criterion, score in record.criteria.items():
            for level in score.votes:
                self._votes.labels(criterion, str(level)).inc()
            recent = self._recent.setdefault(criterion, [])
            recent.append(score.agreement)
            del recent[:-100]
            self._agreement.labels(criterion).set(sum(recent) / len(recent))

    def repeated(self) -> None:
        """Note an event of a segment that has its score already."""
        self._scores.labels("repeated").inc()
