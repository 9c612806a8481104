"""What the search of a run found, and how far its curriculum came; both readings are kept whole.

Only those of the current run are shown: another run begins without both.
"""

from datetime import datetime

from rlaif.contracts.telemetry import CurriculumProgress, SearchProgress
from rlaif.hud.read_model.views import CurriculumView, RunView, SearchView


class Quest:
    """Keeps the newest reading of each kind."""

    def __init__(self) -> None:
        self._search: SearchView | None = None
        self._curriculum: CurriculumView | None = None

    def told(self, reading: SearchProgress | CurriculumProgress, now: datetime) -> bool:
        """The trainer told one of both; gives whether it says anything new.

        A search that is over is told again and again, for who comes late.
        """
        if isinstance(reading, SearchProgress):
            is_new = _differs(reading, self._search)
            self._search = SearchView(**dict(reading), received_at=now)
        else:
            is_new = _differs(reading, self._curriculum)
            self._curriculum = CurriculumView(**dict(reading), received_at=now)
        return is_new

    def search(self, run: RunView | None) -> SearchView | None:
        """Of this run; of whichever was told while no run is known."""
        told = self._search
        return told if told is not None and _is_of(told.run_id, run) else None

    def curriculum(self, run: RunView | None) -> CurriculumView | None:
        """Likewise."""
        told = self._curriculum
        return told if told is not None and _is_of(told.run_id, run) else None


def _differs(
    reading: SearchProgress | CurriculumProgress, known: SearchView | CurriculumView | None
) -> bool:
    times = {"at", "received_at"}
    return known is None or reading.model_dump(exclude=times) != known.model_dump(exclude=times)


def _is_of(run_id: str, run: RunView | None) -> bool:
    return run is None or run.run_id == run_id
