"""The HUD's read model with its writer, without a bus."""

from collections.abc import Callable
from datetime import datetime

from rlaif.hud.broadcast import Broadcast, HudMetrics
from rlaif.hud.browsers.hub import Hub
from rlaif.hud.read_model.projections import HudState
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.events import NOON


class _Metrics(HudMetrics):
    def __init__(self, hub: Hub, outcomes: list[tuple[str, str]] | None) -> None:
        super().__init__(ServiceMetrics("hud"), hub)
        self._outcomes = outcomes

    def reading(self, subject: str, outcome: str) -> None:
        super().reading(subject, outcome)
        if self._outcomes is not None:
            self._outcomes.append((subject, outcome))


def broadcast_of(
    state: HudState,
    *,
    clock: Callable[[], datetime] = lambda: NOON,
    outcomes: list[tuple[str, str]] | None = None,
) -> Broadcast:
    """Create a read model's writer; `outcomes` gets (subject, outcome) of each reading."""
    hub = Hub(lambda: state.snapshot(clock()), max_clients=64)
    return Broadcast(state, hub, clock=clock, metrics=_Metrics(hub, outcomes))
