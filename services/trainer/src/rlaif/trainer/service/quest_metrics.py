"""What the search found and how far the curriculum came, for Prometheus; see `docs/metrics.md`."""

from rlaif.contracts.curriculum_figures import CurriculumFigures
from rlaif.contracts.search_figures import SearchFigures
from rlaif.service.metrics import ServiceMetrics


class QuestMetrics:
    """Shows the newest of what was told; marks have no labels, there are hundreds of them."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._running = metrics.gauge("search_running", "1 while the run searches.")
        self._frames = metrics.gauge(
            "search_frames", "Game frames that all workers of the search played."
        )
        self._seconds = metrics.gauge("search_seconds", "Time that the run searched.")
        self._found = metrics.gauge(
            "search_found_seconds", "Of that time, until the search found its newest new mark."
        )
        self._nodes = metrics.gauge("search_nodes", "Saved states that the search kept.")
        self._level = metrics.gauge("search_level", "The highest level of a saved state.")
        self._marks = metrics.gauge("search_marks", "Different lasting marks that were found.")
        self._workers = metrics.gauge("search_workers", "Processes that play for the search.")
        self._demonstrations = metrics.gauge(
            "curriculum_demonstrations", "Demonstrations that the curriculum goes along."
        )
        self._segments = metrics.gauge(
            "curriculum_segments",
            "Segments of the demonstrations: `mastered` from their beginning, or still `open`.",
            ["state"],
        )
        self._frontier = metrics.gauge(
            "curriculum_frontier_mean",
            "Mean frontier of the segments: 1 is at the end, 0 is all of it.",
        )
        self._success = metrics.gauge(
            "curriculum_success_mean", "Mean success of the last tries, over segments with tries."
        )
        self._tries = metrics.gauge(
            "curriculum_tries", "Episodes that started on a demonstration, over the run."
        )
        self._whole = metrics.gauge(
            "curriculum_whole_success",
            "Share of the last episodes from power-on that came to the end of the way.",
        )
        self._power_on = metrics.gauge(
            "curriculum_power_on_share", "Share of the episodes that start at power-on."
        )

    def searched(self, told: SearchFigures) -> None:
        """Note what the search tells."""
        self._running.set(told.running)
        self._frames.set(told.frames)
        self._seconds.set(told.seconds)
        self._found.set(told.found_seconds or 0.0)
        self._nodes.set(told.nodes)
        self._level.set(told.level)
        self._marks.set(told.marks)
        self._workers.set(told.workers)

    def taught(self, told: CurriculumFigures) -> None:
        """Note what the curriculum tells."""
        self._demonstrations.set(told.demonstrations)
        self._segments.labels("mastered").set(told.mastered)
        self._segments.labels("open").set(told.all_segments - told.mastered)
        self._tries.set(told.tries)
        self._power_on.set(told.power_on_share)
        for gauge, mean in (
            (self._frontier, told.frontier_mean),
            (self._success, told.success_mean),
            (self._whole, told.whole_success),
        ):
            if mean is not None:
                gauge.set(mean)
