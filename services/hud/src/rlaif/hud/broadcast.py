"""Connects the read model and the browsers: readings in, changed sections out."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import (
    FRAME_SUBJECT,
    AssistanceStatus,
    CurriculumProgress,
    EnvironmentsSeen,
    FrameFormatError,
    JudgeCall,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    ScreenFrame,
    SearchProgress,
    ServiceHealth,
    Telemetry,
    TrainingProgress,
    WatchedPay,
    WorldProgress,
)
from rlaif.hud.browsers.hub import Hub
from rlaif.hud.read_model.projections import Changed, HudState
from rlaif.hud.read_model.segments.table import UnreadScore
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
    # Both are calls of language models; each requires fields that the other does not have.
    JudgeCall.SUBJECT: TypeAdapter(JudgeCall | PlayerCall),
}
"""Subject → what reads the JSON readings on it."""

MOST_EVENTS_A_TICK = 200
"""More new log lines than this in one tick are a replay of history: a snapshot is cheaper."""

SECTIONS_SECONDS = 0.5
"""What changed goes out together, so that a page never shows one panel of now beside one of a
second ago. Oftener cannot be read, and the curves are 10 kB."""

logger = logging.getLogger(__name__)


class Observer(Protocol):
    """Counts what passes, for the metrics."""

    def event(self, event_type: str) -> None:
        """An event was folded."""

    def reading(self, subject: str, outcome: str) -> None:
        """A reading or frame came in: `used`, `skipped` or `invalid`."""


class Broadcast:
    """The one writer of the read model."""

    def __init__(
        self, state: HudState, hub: Hub, *, clock: Callable[[], datetime], observer: Observer
    ) -> None:
        self.state = state
        self.hub = hub
        self._clock = clock
        self._observer = observer
        self._changed: set[str] = set()
        self._sent_at = float("-inf")
        self._sent_event_id = 0

    def streams_opened(self) -> None:
        """The event streams are followed from now on."""
        self._note(self.state.streams_opened())

    def event(self, event: CloudEvent[Any]) -> None:
        """Fold one event."""
        self._observer.event(event.type)
        self._note(self.state.apply_event(event))

    def telemetry(self, subject: str, payload: bytes) -> None:
        """Fold one message of the telemetry; a malformed one is counted and skipped."""
        try:
            used = self._frame(subject, payload) or self._reading(subject, payload)
        except (ValidationError, FrameFormatError) as error:
            logger.debug("telemetry on %s is not readable: %s", subject, error)
            self._observer.reading(_family(subject), "invalid")
            return
        self._observer.reading(_family(subject), "used" if used else "skipped")

    def score(self, unread: UnreadScore, record: ScoreRecord) -> None:
        """A score object was read."""
        self._note(self.state.apply_score(unread, record))

    def score_delayed(self, unread: UnreadScore, problem: str) -> None:
        """A score object cannot be read now; it is tried again."""
        self._note(self.state.score_delayed(unread, problem))

    def score_unreadable(self, unread: UnreadScore, problem: str) -> None:
        """A score object can never be read."""
        self._note(self.state.score_unreadable(unread, problem))

    def sent_again(self, event_id: str) -> None:
        """Somebody sent a dead event again: it is given up no more."""
        self._note(self.state.sent_again(event_id, self._clock()))

    def health(self, checks: dict[str, str | None]) -> None:
        """How the things that the HUD needs are."""
        self._note(self.state.apply_health(checks, self.hub.clients, self._clock()))

    def tick(self, seconds: float) -> None:
        """Send what changed, at `seconds` of a monotonic clock; called a few times a second."""
        self._send_events()
        self._send_heir()
        if seconds - self._sent_at < SECTIONS_SECONDS:
            return
        now = self._clock()
        self._note(self.state.look(now))
        changed, self._changed, self._sent_at = self._changed, set(), seconds
        if self.hub.clients:
            sections = {name: self.state.section(name) for name in sorted(changed)}
            self.hub.send_sections(sections, now=now)

    def _note(self, changed: Changed) -> None:
        self._changed |= changed

    def _send_events(self) -> None:
        news = self.state.journal.after(self._sent_event_id, limit=MOST_EVENTS_A_TICK + 1)
        self._sent_event_id = news.last_id
        if news.gap or len(news.items) > MOST_EVENTS_A_TICK:
            self.hub.resync()
        else:
            self.hub.send_events(news.items)

    def choose_screen(self, env: str) -> None:
        """A person wants to see another environment."""
        self._note(self.state.choose_screen(env, self._clock()))

    def _send_heir(self) -> None:
        """The first frame of an environment that takes the screen over now, if one does."""
        shown = self.state.look_at_screen(self._clock())
        if shown is not None:
            self.hub.send_frame(shown.sequence, shown.packed)
            self._note(frozenset({"screen"}))

    def _frame(self, subject: str, payload: bytes) -> bool:
        if not subject.startswith(f"{FRAME_SUBJECT}."):
            return False
        env = subject.removeprefix(f"{FRAME_SUBJECT}.")
        shown = self.state.apply_frame(env, ScreenFrame.unpack(payload), self._clock())
        if shown is None:
            return False
        self.hub.send_frame(shown.sequence, shown.packed)
        self._note(frozenset({"screen"}))
        return True

    def _reading(self, subject: str, payload: bytes) -> bool:
        reader = READINGS.get(subject)
        if reader is None:
            return False
        self._note(self.state.apply_reading(reader.validate_json(payload), self._clock()))
        return True


def _family(subject: str) -> str:
    """The first two words, so that no environment's name becomes a label."""
    return ".".join(subject.split(".")[:2])


class HudMetrics:
    """Fits `rlaif.hud.broadcast.Observer`."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._metrics = metrics
        self._events = metrics.counter("events", "Events folded into the page.", ("event",))
        self._readings = metrics.counter(
            "readings", "Telemetry messages that came in.", ("subject", "outcome")
        )
        self._refused = metrics.counter("refused_clients", "Pages turned away.", ("reason",))

    def watch(self, hub: Hub) -> None:
        """Show how many pages are connected."""
        clients = self._metrics.gauge("clients", "Pages connected now.")
        clients.set_function(lambda: hub.clients)

    def event(self, event_type: str) -> None:
        """An event was folded."""
        self._events.labels(event_type).inc()

    def reading(self, subject: str, outcome: str) -> None:
        """A reading or frame came in: `used`, `skipped` or `invalid`."""
        self._readings.labels(subject, outcome).inc()

    def refused(self, reason: str) -> None:
        """A page was turned away."""
        self._refused.labels(reason).inc()
