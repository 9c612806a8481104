"""Connects the read model to the browsers: folds readings and sends the sections that changed."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rlaif.contracts.events import CloudEvent
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, FrameFormatError, ScreenFrame
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    CurriculumProgress,
    EnvironmentsSeen,
    JudgeCall,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    SearchProgress,
    ServiceHealth,
    Telemetry,
    TrainingProgress,
    WatchedPay,
    WorldProgress,
)
from rlaif.hud.browsers.hub import Hub
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.screen import ShownFrame
from rlaif.hud.read_model.sections import SECTIONS
from rlaif.service.metrics import ServiceMetrics

_READINGS: tuple[type[Telemetry], ...] = (
    TrainingProgress,
    RewardBreakdown,
    RewardModelStatus,
    ServiceHealth,
    AssistanceStatus,
    SearchProgress,
    CurriculumProgress,
    MapPosition,
    WatchedPay,
    PaidSteps,
    WorldProgress,
    EnvironmentsSeen,
)

READINGS: dict[str, TypeAdapter[Any]] = {
    **{reading.SUBJECT: TypeAdapter(reading) for reading in _READINGS},
    # Each requires fields that the other does not have.
    JudgeCall.SUBJECT: TypeAdapter(JudgeCall | PlayerCall),
}
"""Subject → parser of the JSON readings on it."""

MAX_EVENTS_PER_TICK = 200
"""More new log lines per tick come from a replay of the streams: a snapshot is cheaper."""

SECTIONS_SECONDS = 0.5
"""Interval of sections; all are sent at once, so that the panels of a page are consistent."""

logger = logging.getLogger(__name__)


class HudMetrics:
    """The metrics of the HUD."""

    def __init__(self, metrics: ServiceMetrics, hub: Hub) -> None:
        self._events = metrics.counter("events", "Events folded into the page.", ("event",))
        self._readings = metrics.counter(
            "readings", "Telemetry messages received.", ("subject", "outcome")
        )
        self._refused = metrics.counter("refused_clients", "Pages refused.", ("reason",))
        metrics.gauge("clients", "Pages connected now.").set_function(lambda: hub.clients)

    def event(self, event_type: str) -> None:
        self._events.labels(event_type).inc()

    def reading(self, subject: str, outcome: str) -> None:
        """Count a reading or frame as `used`, `skipped` or `invalid`."""
        self._readings.labels(subject, outcome).inc()

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()


class Broadcast:
    """Updates the read model and sends it to the browsers."""

    def __init__(
        self, state: HudState, hub: Hub, *, clock: Callable[[], datetime], metrics: HudMetrics
    ) -> None:
        self.state = state
        self.hub = hub
        self._clock = clock
        self._metrics = metrics
        self._sent_at = float("-inf")
        self._sent_event_id = 0

    def check(self) -> str | None:
        """The sections of the page that cannot be made, with the reason; None if all can."""
        return self.state.sections.check()

    def event(self, event: CloudEvent[Any]) -> None:
        """Fold one event; one that cannot be folded is logged and skipped.

        It is stored and read again at each start, so it must not block the others.
        """
        self._metrics.event(event.type)
        try:
            self.state.apply_event(event)
        except Exception:
            logger.exception("event %s is skipped", event.id)

    def telemetry(self, subject: str, payload: bytes) -> None:
        """Fold one telemetry message; one that cannot be folded is counted and skipped."""
        try:
            used = self._frame(subject, payload) or self._reading(subject, payload)
        except Exception as error:
            if not isinstance(error, ValidationError | FrameFormatError):
                logger.exception("a message on %s is skipped", subject)
            self._metrics.reading(_family(subject), "invalid")
            return
        self._metrics.reading(_family(subject), "used" if used else "skipped")

    def redriven(self, event_id: str) -> None:
        self.state.redriven(event_id, self._clock())

    def select_screen(self, env: str) -> None:
        self.state.screen.selection.select(env, self._clock())

    def health(self, checks: dict[str, str | None]) -> None:
        """Set the HUD's own checks: check → why it fails, or None."""
        self.state.health.checked(checks, self.hub.clients, self._clock())

    def tick(self, seconds: float) -> None:
        """Send changes, at `seconds` of a monotonic clock; called several times per second."""
        self._send_events()
        self._send_frame(self.state.check_screen(self._clock()))
        if seconds - self._sent_at < SECTIONS_SECONDS:
            return
        self._sent_at, now = seconds, self._clock()
        self.state.refresh(now)
        if self.hub.clients:
            sections = {name: self.state.sections.make(name) for name in SECTIONS}
            self.hub.send_sections(sections, now=now)

    def _send_events(self) -> None:
        news = self.state.journal.after(self._sent_event_id)
        self._sent_event_id = self.state.journal.last_id
        if news is None or len(news) > MAX_EVENTS_PER_TICK:
            self.hub.resync()
        else:
            self.hub.send_events(news)

    def _send_frame(self, shown: ShownFrame | None) -> bool:
        if shown is not None:
            self.hub.send_frame(shown.sequence, shown.packed)
        return shown is not None

    def _frame(self, subject: str, payload: bytes) -> bool:
        if not subject.startswith(f"{FRAME_SUBJECT}."):
            return False
        env = subject.removeprefix(f"{FRAME_SUBJECT}.")
        frame = ScreenFrame.unpack(payload)
        return self._send_frame(self.state.apply_frame(env, frame, self._clock()))

    def _reading(self, subject: str, payload: bytes) -> bool:
        parser = READINGS.get(subject)
        if parser is None:
            return False
        self.state.apply_reading(parser.validate_json(payload), self._clock())
        return True


def _family(subject: str) -> str:
    """The first two tokens of a subject, so that no environment's name becomes a label."""
    return ".".join(subject.split(".")[:2])
