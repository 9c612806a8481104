"""Metrics of the service; `docs/metrics.md` lists them."""

from math import nan

from rlaif.reward_model.champions.registry import Live
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.service.metrics import ServiceMetrics


class RewardModelMetrics:
    """Labels, trainings, measurements of the last candidate, and the champion."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._labels = metrics.gauge("labels", "Labels that the next training uses.")
        self._skipped = metrics.gauge(
            "scores_skipped", "Score objects that are not labels, by reason.", ("reason",)
        )
        self._attempts = metrics.counter("attempts", "Trainings by outcome.", ("outcome",))
        self._seconds = metrics.histogram("training_seconds", "Duration of a training.")
        self._accuracy = metrics.gauge(
            "heldout_accuracy_ratio",
            "Accuracy on decided pairs of unseen episodes: of the last candidate, cross-fitted, "
            "its lower bound, forward in time, and of the champion.",
            ("of",),
        )
        self._measured = {
            "heldout_ece": metrics.gauge(
                "heldout_ece_ratio", "Calibration error of the last candidate on held-out pairs."
            ),
            "disagreement": metrics.gauge(
                "disagreement_ratio",
                "Standard deviation between members of the last candidate over that between "
                "observations.",
            ),
            "llm_only_share": metrics.gauge(
                "judged_pairs_ratio",
                "Share of the decided pairs of the last training that only judges decide.",
            ),
        }
        for gauge in self._measured.values():
            gauge.set(nan)  # 0 would be a measurement
        self._champion = metrics.gauge("champion_version", "Live version; 0 for none.")
        self._demotions = metrics.counter(
            "champions_demoted", "Champions withdrawn because newer labels contradicted them."
        )
        self._pinned = metrics.gauge("champion_pinned", "1 while no candidate may replace it.")
        self._alarms = metrics.counter("watchdog_alarms", "Alarms of the reward hacking monitor.")

    def polled(self, labels: int, skipped: dict[str, int]) -> None:
        self._labels.set(labels)
        self._skipped.clear()  # a reason may apply to no score any more
        for reason, count in skipped.items():
            self._skipped.labels(reason).set(count)

    def attempted(self, candidate: Candidate, outcome: str, seconds: float) -> None:
        self._attempts.labels(outcome).inc()
        self._seconds.observe(seconds)
        measured = candidate.metrics
        accuracies = {
            "candidate": measured.heldout_accuracy,
            "crossfit": measured.crossfit_accuracy,
            "crossfit_low": measured.crossfit_accuracy_low,
            "champion": measured.champion_heldout_accuracy,
            "forward": measured.forward_accuracy,
        }
        self._accuracy.clear()  # the values of earlier candidates
        for name, value in accuracies.items():
            if value is not None:
                self._accuracy.labels(name).set(value)
        for name, gauge in self._measured.items():
            value = getattr(measured, name)
            gauge.set(nan if value is None else value)

    def champion_changed(self, live: Live | None) -> None:
        self._champion.set(live.manifest.version if live and live.pays else 0)
        self._pinned.set(live is not None and live.champion.pinned)

    def demoted(self) -> None:
        self._demotions.inc()

    def alarmed(self) -> None:
        self._alarms.inc()
