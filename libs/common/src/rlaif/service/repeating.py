"""When a reading is to be sent: at once when it changed, and now and then when it did not."""

from rlaif.contracts.telemetry import Telemetry

LOOK_SECONDS = 0.5
"""A sender looks this often for a change."""

REPEAT_SECONDS = 2.0
"""What did not change is sent this often: for who came later, and because silence means gone."""


class Repeated:
    """Remembers what was sent last. One for each kind of reading and sender."""

    def __init__(self) -> None:
        self._sent: Telemetry | None = None
        self._sent_at = 0.0

    def due(self, reading: Telemetry, now: float) -> bool:
        """Whether `reading` is to be sent, and then taken as sent; `now` in seconds of a clock.

        A reading that is only newer is no change.
        """
        last = self._sent
        if (
            last is not None
            and now - self._sent_at < REPEAT_SECONDS
            and reading.model_copy(update={"at": last.at}) == last
        ):
            return False
        self._sent, self._sent_at = reading, now
        return True
