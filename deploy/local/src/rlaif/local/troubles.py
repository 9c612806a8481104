"""What `/readyz` of the services says, as news: a check that fails, and one that passes again."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_PATIENCE_SECONDS = 5.0
_ANSWERS = "answer"
_ANSWER_PATIENCE_SECONDS = 15.0

Report = Mapping[str, str]
"""Failing check → why, of one service."""


@dataclass(frozen=True)
class News:
    """Something to tell people; `good` when a service is well again."""

    service: str
    text: str
    good: bool


@dataclass
class _Trouble:
    since: float
    why: str
    told: bool = False


@dataclass
class ReadinessWatch:
    """What fails now, and since when.

    What fails for less than `patience` seconds is not told: every service waits for something when
    it starts.
    """

    patience: float = _PATIENCE_SECONDS
    _open: dict[tuple[str, str], _Trouble] = field(default_factory=dict)

    def look(self, now: float, reports: Mapping[str, Report | None]) -> list[News]:
        """Take in what the services say at `now`, in seconds, and return what is to be told.

        A report of None: the service did not answer, and what it said last still counts.
        """
        news: list[News] = []
        for service, report in reports.items():
            failing = {_ANSWERS: "does not answer"} if report is None else dict(report)
            for key in [key for key in self._open if key[0] == service and report is not None]:
                if key[1] not in failing:
                    news += self._end(key, now)
            for check, why in failing.items():
                news += self._continue((service, check), why, now)
        return news

    def _continue(self, key: tuple[str, str], why: str, now: float) -> list[News]:
        trouble = self._open.setdefault(key, _Trouble(now, why))
        trouble.why = why
        service, check = key
        patience = _ANSWER_PATIENCE_SECONDS if check == _ANSWERS else self.patience
        if trouble.told or now - trouble.since < patience:
            return []
        trouble.told = True
        what = why if check == _ANSWERS else f"is not ready: {check}: {why}"
        return [News(service, f"{service} {what}", good=False)]

    def _end(self, key: tuple[str, str], now: float) -> list[News]:
        trouble = self._open.pop(key)
        if not trouble.told:
            return []
        service, check = key
        what = "answers again" if check == _ANSWERS else f"is well again: {check}"
        return [News(service, f"{service} {what}, after {now - trouble.since:.0f} s", good=True)]
