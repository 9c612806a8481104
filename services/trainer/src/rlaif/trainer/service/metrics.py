"""The trainer's metrics; `docs/metrics.md` lists them."""

from collections.abc import Callable

from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.run_folder.protocol import IterationDone
from rlaif.trainer.service.assistance_metrics import AssistanceMetrics
from rlaif.trainer.service.quest_metrics import QuestMetrics


class TrainerMetrics:
    """Shows the run as its last iteration left it, and counts what was not learned from.

    Attributes:
        quest: What a search and a curriculum told.
    """

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._steps = metrics.gauge("env_steps", "Environment steps of the run.")
        self._rate = metrics.gauge("steps_per_second", "Environment steps a second, over 10 s.")
        self._captured = metrics.gauge("segments_captured", "Segments captured by the run.")
        self._dropped = metrics.gauge(
            "segments_dropped", "Captures dropped because the spool took no more."
        )
        self._selected = metrics.gauge(
            "segments_selected", "Captures of the run, by why they were chosen.", ["by"]
        )
        self._version = metrics.gauge("reward_model_version", "Version that shapes rewards.")
        self._refused = metrics.counter(
            "reward_models_refused", "Reward models that failed a check and were not loaded."
        )
        self._samples_left_out = metrics.counter(
            "samples_left_out", "Environment steps not learned from: their advantage was no number."
        )
        self._updates_left_out = metrics.counter(
            "updates_left_out", "Gradient steps left out: they were no numbers."
        )
        self._part_mean = metrics.gauge(
            "reward_mean", "Reward of a step in the last iteration, by part.", ["part"]
        )
        self._part_share = metrics.gauge(
            "reward_share", "Part's share of the last iteration's absolute rewards.", ["part"]
        )
        self._fraction = metrics.gauge(
            "milestone_fraction", "Mean share of main milestones, of the last 100 episodes."
        )
        self._rooms = metrics.gauge(
            "rooms_per_episode", "Distinct rooms an episode, mean of the last 100 episodes."
        )
        self._returns = metrics.gauge(
            "episode_return",
            "Return of an episode, mean of the last 100: of the game's part and of the reward "
            "model's (`shaping`).",
            ["part"],
        )
        self._potential = metrics.gauge(
            "potential_mean", "Mean potential of the live reward model over the last iteration."
        )
        self._alive = metrics.gauge(
            "run_in_progress", "1 while a run is in progress, also while its process restarts."
        )
        self._assistance = AssistanceMetrics(metrics)
        self.quest = QuestMetrics(metrics)
        self._attempts = metrics.gauge(
            "run_attempt", "Starts of the run's training process; a resumed run counts on."
        )

    def watch(self, in_progress: Callable[[], bool], attempt: Callable[[], int]) -> None:
        """Show whether a run is in progress and which start of its process this is."""
        self._alive.set_function(in_progress)
        self._attempts.set_function(attempt)

    def iterated(self, done: IterationDone, reward_model_version: int | None) -> None:
        """Note an iteration, and the reward model that counts after it."""
        self._steps.set(done.env_steps)
        self._rate.set(done.steps_per_second)
        self._captured.set(done.segments_captured)
        self._dropped.set(done.segments_dropped)
        for reason, count in done.selected_by.items():
            self._selected.labels(reason).set(count)
        self._samples_left_out.inc(done.samples_left_out)
        self._updates_left_out.inc(done.updates_left_out)
        for name, part in done.reward_statistics.items():
            self._part_mean.labels(name).set(part.mean)
            self._part_share.labels(name).set(part.share or 0.0)
        figures = (
            (self._fraction, done.milestone_fraction),
            (self._rooms, done.rooms_mean),
            (self._potential, done.potential_mean),
        )
        for gauge, figure in figures:
            if figure is not None:
                gauge.set(figure)
        returns = {"game": done.episode_return_mean, "shaping": done.shaped_return_mean}
        for paid_by, value in returns.items():
            if value is not None:
                self._returns.labels(paid_by).set(value)
        if done.assistance is not None:
            self._assistance.iterated(done.assistance)
        if reward_model_version is not None:
            self._version.set(reward_model_version)

    def refused_model(self) -> None:
        """Note a reward model that does not count."""
        self._refused.inc()
