"""What the language model that plays did, for Prometheus; `docs/metrics.md` lists it."""

from rlaif.contracts.assistance import LATENCY_BUCKETS, ModeFigures
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.run_folder.protocol import AssistanceDone


class AssistanceMetrics:
    """Counts what the iterations tell; all of it is by mode, the planner's route."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._waited: set[str] = set()
        self._calls = metrics.counter(
            "planner_calls",
            "Questions to the planner by how they ended; cached answers are among `ok`.",
            ("mode", "outcome"),
        )
        self._not_asked = metrics.counter(
            "planner_not_asked",
            "Questions that were not asked: busy (too many in flight), resting (the route is taken "
            "for broken), paced (more calls a second than are allowed), closed.",
            ("mode", "why"),
        )
        self._cached = metrics.counter(
            "planner_cached_answers",
            "Answers from an equal situation that cost no call.",
            ("mode",),
        )
        self._seconds = metrics.counted_histogram(
            "planner_call_seconds",
            "Time from question to answer, waiting for a turn included.",
            ("mode",),
            buckets=LATENCY_BUCKETS,
        )
        self._tokens = metrics.counter(
            "planner_tokens",
            "Tokens read (`prompt`) and written (`completion`).",
            ("mode", "kind"),
        )
        self._in_flight = metrics.gauge(
            "planner_calls_in_flight", "Questions without an answer, at the last report.", ("mode",)
        )
        self._plans = metrics.counter(
            "plans",
            "Plans that arrived: taken, stale (room or situation had changed), dropped (no "
            "takeover was allowed any more), refused (its macros could not be played).",
            ("mode", "fate"),
        )
        self._takeovers = metrics.counter(
            "takeovers",
            "Takeovers that ended: `done`, or the cause why not.",
            ("mode", "ending"),
        )
        self._steps = metrics.counter(
            "planner_steps", "Environment steps that the planner played.", ("mode",)
        )
        self._suggestions = metrics.counter(
            "suggestions",
            "Suggestions: `given` counts all, the others how they ended: followed, declined, "
            "expired, left (room, episode or the policy's turn was over), replaced.",
            ("mode", "fate"),
        )
        self._bonus = metrics.counter(
            "guidance_bonus", "Reward paid for following suggestions.", ("mode",)
        )

    def iterated(self, told: AssistanceDone) -> None:
        """Note what the language model did in an iteration."""
        for mode in self._waited - told.by_mode.keys():
            self._in_flight.labels(mode).set(0)
        self._waited |= told.by_mode.keys()
        for mode, figures in told.by_mode.items():
            self._note(mode, figures)
            counts = told.latency.get(mode)
            if counts is not None:
                self._seconds.add((mode,), counts, figures.seconds)

    def _note(self, mode: str, figures: ModeFigures) -> None:
        for counter, counts in (
            (self._calls, figures.calls),
            (self._not_asked, figures.not_asked),
            (self._plans, figures.plans),
            (self._takeovers, figures.takeovers),
            (self._suggestions, figures.suggestions),
        ):
            for name, times in counts.items():
                counter.labels(mode, name).inc(times)
        self._cached.labels(mode).inc(figures.cached)
        self._tokens.labels(mode, "prompt").inc(figures.tokens_read)
        self._tokens.labels(mode, "completion").inc(figures.tokens_written)
        self._in_flight.labels(mode).set(figures.in_flight)
        self._steps.labels(mode).inc(figures.planner_steps)
        self._bonus.labels(mode).inc(max(0.0, figures.bonus))
