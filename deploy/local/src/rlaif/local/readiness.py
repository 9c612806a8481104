"""Reports failing and recovered `/readyz` checks of the services."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_PATIENCE_SECONDS = 5.0
_ANSWERS = "answer"
_ANSWER_PATIENCE_SECONDS = 15.0

Report = Mapping[str, str]
"""Failing check → reason, of one service."""


def disk_report(folder: Path, *, least_free_bytes: int = 500_000_000) -> Report:
    """Report low disk space before NATS, objects or checkpoints fail."""
    free = shutil.disk_usage(folder).free
    if free >= least_free_bytes:
        return {}
    return {"disk": f"{free / 1e6:.0f} MB free at {folder}; delete files there, or move it"}


@dataclass(frozen=True)
class Notice:
    """A message for the user; `good` for a recovery."""

    service: str
    text: str
    good: bool


@dataclass
class _Failure:
    since: float
    reason: str
    reported: bool = False


@dataclass
class ReadinessWatch:
    """Current failures and their start times.

    Failures shorter than `patience` seconds are not reported: services wait for dependencies when
    they start.
    """

    patience: float = _PATIENCE_SECONDS
    _open: dict[tuple[str, str], _Failure] = field(default_factory=dict)

    def update(self, now: float, reports: Mapping[str, Report | None]) -> list[Notice]:
        """Update with the reports at `now` (seconds) and return new messages.

        A report of None means no response; the last report then remains in effect.
        """
        news: list[Notice] = []
        for service, report in reports.items():
            failing = {_ANSWERS: "does not respond"} if report is None else dict(report)
            for key in [key for key in self._open if key[0] == service and report is not None]:
                if key[1] not in failing:
                    news += self._end(key, now)
            for check, why in failing.items():
                news += self._continue((service, check), why, now)
        return news

    def _continue(self, key: tuple[str, str], why: str, now: float) -> list[Notice]:
        failure = self._open.setdefault(key, _Failure(now, why))
        failure.reason = why
        service, check = key
        patience = _ANSWER_PATIENCE_SECONDS if check == _ANSWERS else self.patience
        if failure.reported or now - failure.since < patience:
            return []
        failure.reported = True
        what = why if check == _ANSWERS else f"is not ready: {check}: {why}"
        return [Notice(service, f"{service} {what}", good=False)]

    def _end(self, key: tuple[str, str], now: float) -> list[Notice]:
        failure = self._open.pop(key)
        if not failure.reported:
            return []
        service, check = key
        what = "responds again" if check == _ANSWERS else f"recovered: {check}"
        return [Notice(service, f"{service} {what}, after {now - failure.since:.0f} s", good=True)]
