"""The service's metrics; `docs/metrics.md` lists them."""

from rlaif.reward_model.champions.registry import Live
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.service.metrics import ServiceMetrics


class RewardModelMetrics:
    """Counts labels and attempts, and shows what the gate measured last."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        """Make the metrics in `metrics`."""
        self._labels = metrics.gauge("labels", "Labels that the next training learns from.")
        self._skipped = metrics.gauge(
            "scores_skipped", "Score objects that are no label, by reason.", ("reason",)
        )
        self._attempts = metrics.counter("attempts", "Trainings, by how they ended.", ("outcome",))
        self._seconds = metrics.histogram("training_seconds", "Time of one training.")
        self._accuracy = metrics.gauge(
            "heldout_accuracy_ratio",
            "Accuracy on decided pairs of unseen episodes: of the last candidate, cross-fitted, "
            "the lower end of that, forward in time, on shuffled labels, and of the champion.",
            ("of",),
        )
        self._ece = metrics.gauge(
            "heldout_ece_ratio", "Calibration error of the last candidate on held-out pairs."
        )
        self._correlation = metrics.gauge(
            "probe_correlation_ratio", "Rank correlation of the last candidate with the champion."
        )
        self._disagreement = metrics.gauge(
            "disagreement_ratio",
            "Spread between the members of the last candidate over that between observations.",
        )
        self._judged = metrics.gauge(
            "judged_pairs_ratio",
            "Share of the decided pairs of the last training whose order the game's counters do "
            "not give: what only judges say.",
        )
        self._champion = metrics.gauge("champion_version", "Version that is live; 0 for none.")
        self._demotions = metrics.counter(
            "champions_demoted", "Champions taken out of use for what labels said after them."
        )
        self._pinned = metrics.gauge("champion_pinned", "1 while no candidate may replace it.")
        self._alarms = metrics.counter(
            "watchdog_alarms", "Times that the model's return rose while milestones were flat."
        )

    def looked(self, labels: int, skipped: dict[str, int]) -> None:
        """Note the labels after a look at the store."""
        self._labels.set(labels)
        for reason, count in skipped.items():
            self._skipped.labels(reason).set(count)

    def attempted(self, candidate: Candidate, outcome: str, seconds: float) -> None:
        """Note one training."""
        self._attempts.labels(outcome).inc()
        self._seconds.observe(seconds)
        measured = {
            "candidate": candidate.metrics.heldout_accuracy,
            "crossfit": candidate.metrics.crossfit_accuracy,
            "crossfit_low": candidate.metrics.crossfit_accuracy_low,
            "champion": candidate.metrics.champion_heldout_accuracy,
            "forward": candidate.metrics.forward_accuracy,
            "control": candidate.metrics.control_accuracy,
        }
        for name, value in measured.items():
            if value is not None:
                self._accuracy.labels(name).set(value)
        others = (
            (self._ece, candidate.metrics.heldout_ece),
            (self._correlation, candidate.metrics.probe_correlation),
            (self._disagreement, candidate.metrics.disagreement),
            (self._judged, candidate.metrics.llm_only_share),
        )
        for gauge, figure in others:
            if figure is not None:
                gauge.set(figure)

    def champion_changed(self, live: Live | None) -> None:
        """Note which version is live, and whether it is pinned."""
        self._champion.set(live.manifest.version if live and live.pays else 0)
        self._pinned.set(live is not None and live.champion.pinned)

    def demoted(self) -> None:
        """Note that a champion was taken out of use."""
        self._demotions.inc()

    def alarmed(self) -> None:
        """Note an alarm of the monitor."""
        self._alarms.inc()
