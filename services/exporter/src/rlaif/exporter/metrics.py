"""The exporter's metrics; `docs/metrics.md` lists them."""

from rlaif.exporter.faults import ExportFault, LostReplayError
from rlaif.service.metrics import ServiceMetrics


class ExporterMetrics:
    """Counts segments, mismatches and replayed frames."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._segments = metrics.counter(
            "segments",
            "Segments: exported now, by another exporter meanwhile, or before.",
            ("result",),
        )
        self._mismatches = metrics.counter(
            "ram_mismatches", "Captures whose replay led to other RAM than they say."
        )
        self._lost = metrics.counter(
            "lost_replays",
            "Replays that hung or crashed their process, counted per attempt.",
            ("why",),
        )
        self._seconds = metrics.histogram(
            "export_seconds", "Time from the event to the stored manifest."
        )
        self._frames = metrics.counter("replayed_frames", "Game frames played, prefixes included.")

    def exported(self, *, frames: int, seconds: float, first: bool) -> None:
        self._segments.labels("exported" if first else "overtaken").inc()
        self._seconds.observe(seconds)
        self._frames.inc(frames)

    def repeated(self) -> None:
        """Count an event of an already exported segment."""
        self._segments.labels("repeated").inc()

    def refused(self, fault: ExportFault) -> None:
        """Count a capture that can never be exported."""
        if fault.reason == "ram_hash_mismatch":
            self._mismatches.inc()

    def lost_replay(self, fault: LostReplayError) -> None:
        """Count a replay that ended its process."""
        self._lost.labels(fault.reason.removeprefix("replay_")).inc()
