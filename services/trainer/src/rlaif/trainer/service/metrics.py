"""Metrics of the trainer; `docs/metrics.md` lists them."""

from collections.abc import Callable

from rlaif.contracts.telemetry.assistance import LATENCY_BUCKETS, ModeFigures
from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.run_folder.protocol import AssistanceDone, IterationDone

_OF_ITERATION = {
    "env_steps": ("env_steps", "Steps of the run: decisions of the policy."),
    "steps_per_second": ("steps_per_second", "Decisions per second, over 10 s."),
    "frames_per_second": (
        "frames_per_second", "Game frames of these decisions per second, waits included.",
    ),
    "segments_captured": ("segments_captured", "Segments captured by the run."),
    "segments_dropped": (
        "segments_dropped", "Captures dropped because the spool was full or not writable.",
    ),
    "milestone_fraction": (
        "milestone_fraction", "Mean share of main milestones, of the last 100 episodes.",
    ),
    "rooms_mean": (
        "rooms_per_episode", "Distinct rooms per episode, mean of the last 100 episodes.",
    ),
    "potential_mean": (
        "potential_mean", "Mean potential of the live reward model in the last iteration.",
    ),
}  # fmt: skip
"""Field → gauge and its description, as in the tables below."""

_OF_SEARCH = {
    "running": ("search_running", "1 while the run searches."),
    "frames": ("search_frames", "Game frames played by all workers of the search."),
    "seconds": ("search_seconds", "Duration of the search."),
    "found_seconds": (
        "search_found_seconds", "Duration of the search until its newest flag was found.",
    ),
    "nodes": ("search_nodes", "Saved states of the search."),
    "level": ("search_level", "The highest progress score of a saved state."),
    "marks": ("search_marks", "Distinct permanent flags that were found."),
    "workers": ("search_workers", "Processes that play for the search."),
}  # fmt: skip

_OF_CURRICULUM = {
    "demonstrations": ("curriculum_demonstrations", "Demonstrations of the curriculum."),
    "frontier_mean": (
        "curriculum_frontier_mean", "Mean frontier of the subtasks: 1 is the goal, 0 the start.",
    ),
    "success_mean": (
        "curriculum_success_mean",
        "Mean success rate of recent attempts, over attempted subtasks.",
    ),
    "tries": ("curriculum_tries", "Episodes that started on a demonstration, over the run."),
    "whole_success": (
        "curriculum_whole_success", "End-to-end success rate of recent episodes from power-on.",
    ),
    "power_on_share": (
        "curriculum_power_on_share", "Target share of frames in episodes from power-on.",
    ),
}  # fmt: skip

_LABELLED = {
    "segments_selected": ("Captures of the run, by reason of their selection.", "by"),
    "reward_mean": ("Mean reward per step in the last iteration, by part.", "part"),
    "reward_share": ("Part's share of the last iteration's absolute rewards.", "part"),
    "episode_return": (
        "Return per episode, mean of the last 100: of the game's part and of the reward model's "
        "(`shaping`).",
        "part",
    ),
    "curriculum_segments": (
        "Subtasks of the demonstrations: `mastered` from their start, or still `open`.", "state",
    ),
}  # fmt: skip
"""Gauge → description and label."""

_PLANNER_COUNTERS = {
    "calls": (
        "planner_calls", "Calls to the planner by outcome; cached answers are part of `ok`.",
        "outcome",
    ),
    "not_asked": (
        "planner_not_asked",
        "Calls that were not made: busy (too many in flight), resting (the route is unavailable), "
        "paced (rate limit), closed.",
        "why",
    ),
    "plans": (
        "plans",
        "Plans that arrived: taken, stale (room or situation had changed), dropped (control was no "
        "longer allowed), refused (its macros are not executable).",
        "fate",
    ),
    "takeovers": (
        "takeovers",
        "Periods of planner control that ended: `done`, or the reason of an early end.", "ending",
    ),
    "suggestions": (
        "suggestions",
        "Suggestions: `given` counts all, the others are their ends: followed, declined, expired, "
        "left (room, episode or the policy's turn ended), replaced.",
        "fate",
    ),
}  # fmt: skip
"""Counts of a planner's route → counter, its description, and its label besides `mode`."""

_PLANNER_SUMS = {
    "cached": (
        "planner_cached_answers", "Answers taken from an equal situation without a call.",
    ),
    "planner_steps": ("planner_steps", "Environment steps that the planner played."),
    "bonus": ("guidance_bonus", "Reward for following suggestions."),
}  # fmt: skip


class _Gauges:
    """Gauges of the fields of a report; unknown values leave them unchanged."""

    def __init__(self, metrics: ServiceMetrics, fields: dict[str, tuple[str, str]]) -> None:
        self._gauges = {name: metrics.gauge(*each) for name, each in fields.items()}

    def set(self, report: object) -> None:
        for name, gauge in self._gauges.items():
            if (value := getattr(report, name)) is not None:
                gauge.set(value)

    def reset(self) -> None:
        for gauge in self._gauges.values():
            gauge.set(0)


class TrainerMetrics:
    """Gauges of the run after its last iteration, and counters of what was excluded from it."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        gauge, counter = metrics.gauge, metrics.counter
        self._iteration = _Gauges(metrics, _OF_ITERATION)
        self._search = _Gauges(metrics, _OF_SEARCH)
        self._curriculum = _Gauges(metrics, _OF_CURRICULUM)
        self._assistance = AssistanceMetrics(metrics)
        self._alive = gauge(
            "run_in_progress", "1 while a run is in progress, also while its process restarts."
        )
        self._attempts = gauge(
            "run_attempt",
            "Starts of the run's process; each machine counts from a multiple of 1,000.",
        )
        self._evaluating = gauge(
            "evaluation_in_progress", "1 while the run evaluates a policy and makes no steps."
        )
        self._version = gauge("reward_model_version", "Version that shapes rewards; 0 for none.")
        self._refused = counter(
            "reward_models_refused", "Reward models that failed a check and were not loaded."
        )
        self._excluded_samples = counter(
            "samples_left_out",
            "Environment steps excluded from learning because their advantage is not finite.",
        )
        self._excluded_updates = counter(
            "updates_left_out", "Gradient steps that were skipped because they are not finite."
        )
        self._labelled = {
            name: gauge(name, text, [label]) for name, (text, label) in _LABELLED.items()
        }

    def watch(
        self,
        *,
        in_progress: Callable[[], bool],
        attempt: Callable[[], int],
        evaluating: Callable[[], bool],
    ) -> None:
        self._alive.set_function(in_progress)
        self._attempts.set_function(attempt)
        self._evaluating.set_function(evaluating)

    def forget_run(self) -> None:
        """Reset all figures, as at the start of the service, before another run starts."""
        for group in (self._iteration, self._search, self._curriculum):
            group.reset()
        for gauge in self._labelled.values():
            gauge.clear()
        self._version.set(0)

    def iterated(self, done: IterationDone, reward_model_version: int | None) -> None:
        self._iteration.set(done)
        for reason, count in done.selected_by.items():
            self._set("segments_selected", reason, count)
        self._excluded_samples.inc(done.samples_left_out)
        self._excluded_updates.inc(done.updates_left_out)
        for name in ("reward_mean", "reward_share"):
            self._labelled[name].clear()  # a part that is not finite has no statistics
        for name, part in done.reward_statistics.items():
            self._set("reward_mean", name, part.mean)
            if part.share is not None:
                self._set("reward_share", name, part.share)
        returns = {"game": done.episode_return_mean, "shaping": done.shaped_return_mean}
        for part_name, value in returns.items():
            if value is not None:
                self._set("episode_return", part_name, value)
        if done.assistance is not None:
            self._assistance.iterated(done.assistance)
        self._version.set(reward_model_version or 0)

    def _set(self, name: str, label: str, value: float) -> None:
        self._labelled[name].labels(label).set(value)

    def refused_model(self) -> None:
        self._refused.inc()

    def searched(self, figures: SearchFigures) -> None:
        self._search.set(figures)

    def curriculum(self, figures: CurriculumFigures) -> None:
        self._curriculum.set(figures)
        self._set("curriculum_segments", "mastered", figures.mastered)
        self._set("curriculum_segments", "open", figures.all_segments - figures.mastered)


class AssistanceMetrics:
    """Calls to the language model that plays, by mode (the planner's route)."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._seen: set[str] = set()
        self._counters = {
            field: metrics.counter(name, text, ("mode", label))
            for field, (name, text, label) in _PLANNER_COUNTERS.items()
        }
        self._sums = {
            field: metrics.counter(name, text, ("mode",))
            for field, (name, text) in _PLANNER_SUMS.items()
        }
        self._tokens = metrics.counter(
            "planner_tokens",
            "Tokens read (`prompt`) and written (`completion`).",
            ("mode", "kind"),
        )
        self._seconds = metrics.counted_histogram(
            "planner_call_seconds",
            "Time from question to answer, including the queue.",
            ("mode",),
            buckets=LATENCY_BUCKETS,
        )
        self._in_flight = metrics.gauge(
            "planner_calls_in_flight", "Calls without an answer, at the last report.", ("mode",)
        )

    def iterated(self, done: AssistanceDone) -> None:
        for mode in self._seen - done.by_mode.keys():
            self._in_flight.labels(mode).set(0)
        self._seen |= done.by_mode.keys()
        for mode, figures in done.by_mode.items():
            self._note(mode, figures)
            if (counts := done.latency.get(mode)) is not None:
                self._seconds.add((mode,), counts, figures.seconds)

    def _note(self, mode: str, figures: ModeFigures) -> None:
        for field, counter in self._counters.items():
            for name, times in getattr(figures, field).items():
                counter.labels(mode, name).inc(times)
        for field, total in self._sums.items():
            total.labels(mode).inc(max(0.0, getattr(figures, field)))
        self._tokens.labels(mode, "prompt").inc(figures.tokens_read)
        self._tokens.labels(mode, "completion").inc(figures.tokens_written)
        self._in_flight.labels(mode).set(figures.in_flight)
