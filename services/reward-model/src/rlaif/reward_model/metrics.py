"""The service's metrics; `docs/metrics.md` lists them."""

from rlaif.reward_model.candidate import Candidate
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
            "the lower end of that, and of the champion.",
            ("of",),
        )
        self._champion = metrics.gauge("champion_version", "Version that is live; 0 for none.")

    def looked(self, labels: int, skipped: dict[str, int]) -> None:
        """Note the labels after a look at the store."""
        self._labels.set(labels)
        for reason, count in skipped.items():
            self._skipped.labels(reason).set(count)

    def attempted(self, candidate: Candidate, seconds: float) -> None:
        """Note one training."""
        self._attempts.labels("published" if candidate.passed else "rejected").inc()
        self._seconds.observe(seconds)
        measured = {
            "candidate": candidate.metrics.heldout_accuracy,
            "crossfit": candidate.metrics.crossfit_accuracy,
            "crossfit_low": candidate.metrics.crossfit_accuracy_low,
            "champion": candidate.metrics.champion_heldout_accuracy,
        }
        for name, value in measured.items():
            if value is not None:
                self._accuracy.labels(name).set(value)

    def champion(self, version: int | None) -> None:
        """Note which version is live."""
        self._champion.set(version or 0)
