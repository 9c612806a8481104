"""What the HUD counts of itself."""

from rlaif.hud.browsers.hub import Hub
from rlaif.service.metrics import ServiceMetrics


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
