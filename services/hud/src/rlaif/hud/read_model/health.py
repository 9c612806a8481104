"""Health of the services as each reports it, and the resulting issues.

    `/readyz` of each process, on plain NATS ──▶ a state per service
    states                                   ──▶ issues: what has stopped, and why

A silent service is an issue; one that never reported is unknown. While the HUD itself has no
connection, all other services are unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rlaif.contracts.reward_models import GamingAlarm
from rlaif.contracts.telemetry.readings import ServiceHealth
from rlaif.hud.read_model.views import (
    CheckView,
    HealthView,
    IssueView,
    RunView,
    ServiceState,
    ServiceView,
)

REQUIRED = ("trainer", "exporter", "judge", "reward-model")
"""The services of the pipeline, in the order of the data flow."""

SILENCE = timedelta(seconds=8)
"""Time without reports after which a service is silent: four missing reports."""

NEVER = timedelta(seconds=20)
"""A required service without a report for this long is missing, if others report."""

BRIEF = timedelta(seconds=2)
"""Shorter failures of a check are those of a service that starts or reconnects."""

FORGET = timedelta(minutes=10)
"""Any other service without reports for this long is dropped."""

NAP = timedelta(seconds=5)
"""After a longer gap between two checks the machine was asleep and received nothing."""

LLM, MODELS, ALARMS = "/llm", "/models", "/models#models-watch"
"""Pages with details."""

OVER = ("stopped", "finished", "failed")
"""Statuses of a run that has ended."""

OWN_CHECKS = {"bus": "the message bus", "store": "the object store"}


@dataclass(frozen=True)
class _Report:
    reading: ServiceHealth
    at: datetime


class ServiceReports:
    """The newest report of every process."""

    def __init__(self, started: datetime) -> None:
        self._since = started
        self._reports: dict[str, dict[str, _Report]] = {}

    def add(self, reading: ServiceHealth, now: datetime) -> None:
        """Add a report; silent processes of the same service were restarted or removed."""
        processes = self._reports.setdefault(reading.service, {})
        processes[reading.instance] = _Report(reading, now)
        for instance in [i for i, each in processes.items() if now - each.at >= SILENCE]:
            del processes[instance]

    def ignore_silence_until(self, now: datetime) -> None:
        """Do not count silence before now, as the HUD itself received nothing."""
        self._since = now

    def views(self, now: datetime, *, connected: bool) -> tuple[ServiceView, ...]:
        others = sorted(
            name
            for name, reports in self._reports.items()
            if name not in REQUIRED and now - max(each.at for each in reports.values()) < FORGET
        )
        return tuple(self._view(name, now, connected=connected) for name in (*REQUIRED, *others))

    def missing(self, now: datetime) -> frozenset[str]:
        if not self._reports or now - self._since < NEVER:
            return frozenset()
        return frozenset(name for name in REQUIRED if name not in self._reports)

    def _view(self, name: str, now: datetime, *, connected: bool) -> ServiceView:
        reports = list(self._reports.get(name, {}).values())
        live = [each for each in reports if now - max(each.at, self._since) < SILENCE]
        newest = max(reports, key=lambda each: each.at, default=None)
        state: ServiceState = "unknown"
        if connected and newest is not None:
            state = _state([each.reading for each in live], newest.reading)
        return ServiceView(
            name=name,
            state=state,
            reported_at=newest.at if newest else None,
            instances=len(live),
            checks=_worst(each.reading.checks for each in live),
        )


def _state(live: Sequence[ServiceHealth], newest: ServiceHealth) -> ServiceState:
    if not live:
        return "stopped" if newest.status == "stopping" else "silent"
    working = [each.status for each in live if each.status != "stopping"]
    if not working:
        return "stopping"
    return "not ready" if "not ready" in working else "ready"


def _worst(reports: Iterable[Mapping[str, str | None]]) -> dict[str, CheckView]:
    details: dict[str, str | None] = {}
    for checks in reports:
        for name, detail in checks.items():
            details[name] = details.get(name) or detail
    return checks_of(details)


def checks_of(details: Mapping[str, str | None]) -> dict[str, CheckView]:
    """Check → its view, from why each fails; None for a check that passes."""
    return {name: CheckView(ok=why is None, detail=why) for name, why in details.items()}


@dataclass(frozen=True)
class Finding:
    """An issue as of now; `key` is stable while it lasts.

    `since` is its start, if known. It is reported once it is older than `brief`. `page` is the
    address of its details.
    """

    key: str
    service: str
    description: str
    since: datetime | None = None
    brief: timedelta = timedelta()
    page: str | None = None


class PipelineHealth:
    """`services`, `issues` and the HUD's `own` health, as of the last check."""

    def __init__(self, started_at: datetime | None) -> None:
        self.services: tuple[ServiceView, ...] = ()
        self.issues: tuple[IssueView, ...] = ()
        self.own = HealthView(started_at=started_at, checks={}, clients=0)
        self._reports = ServiceReports(started_at) if started_at else None
        self._since: dict[str, datetime] = {}
        self._checked_at: datetime | None = None

    def reported(self, reading: ServiceHealth, now: datetime) -> None:
        self._reports_at(now).add(reading, now)

    def checked(self, checks: dict[str, str | None], clients: int, now: datetime) -> None:
        """The HUD's own checks: check → why it fails, or None."""
        if not self._is_connected:
            self._reports_at(now).ignore_silence_until(now)
        own = {"checks": checks_of(checks), "clients": clients}
        self.own = self.own.model_copy(update=own)

    def check(
        self,
        now: datetime,
        *,
        run: RunView | None,
        alarm: GamingAlarm | None = None,
    ) -> None:
        """Update services and issues."""
        reports = self._reports_at(now)
        if self._checked_at is not None and now - self._checked_at > NAP:
            reports.ignore_silence_until(now)
        self._checked_at = now
        self.services = reports.views(now, connected=self._is_connected)
        found = [
            Finding(
                f"hud: {name}",
                "hud",
                f"{OWN_CHECKS.get(name, name)} is not available: {check.detail}",
                brief=BRIEF,
            )
            for name, check in self.own.checks.items()
            if not check.ok
        ]
        if self._is_connected:
            found += findings_of(self.services, reports.missing(now))
        self._report([*found, *_of_run(run), *_of_alarm(run, alarm)], now)

    @property
    def _is_connected(self) -> bool:
        bus = self.own.checks.get("bus")
        return bus is None or bus.ok

    def _reports_at(self, now: datetime) -> ServiceReports:
        if self._reports is None:
            self._reports = ServiceReports(now)
            self.own = self.own.model_copy(update={"started_at": now})
        return self._reports

    def _report(self, findings: Sequence[Finding], now: datetime) -> None:
        known, self._since = self._since, {}
        for each in findings:
            self._since[each.key] = each.since or known.get(each.key, now)
        self.issues = tuple(
            IssueView(
                key=each.key,
                service=each.service,
                description=each.description,
                since=self._since[each.key],
                page=each.page,
            )
            for each in findings
            if now - self._since[each.key] >= each.brief
        )


def findings_of(services: Iterable[ServiceView], missing: frozenset[str]) -> list[Finding]:
    """Failing checks of the services, and services that do not report."""
    found = []
    for service in services:
        who = service.name
        if service.state == "silent":
            text = "no heartbeat: it hung, lost NATS or stopped; check its log"
            found.append(Finding(f"{who}: silent", who, text, service.reported_at))
        elif service.state == "stopped":
            found.append(Finding(f"{who}: stopped", who, "was stopped", service.reported_at))
        elif who in missing:
            text = "no report since the HUD started; start it"
            found.append(Finding(f"{who}: missed", who, text))
        for name, check in service.checks.items():
            if not check.ok and service.state != "stopping":
                text = f"{name}: {check.detail}"
                page = LLM if name.startswith(("route:", "trust:")) else None
                found.append(Finding(f"{who}: {name}", who, text, brief=BRIEF, page=page))
    return found


def _of_run(run: RunView | None) -> list[Finding]:
    if run is None or run.status in OVER or run.reward_model_refused is None:
        return []
    reason = run.reward_model_refusal or "no reason was reported"
    text = f"rejected reward model v{run.reward_model_refused} and uses the previous one: {reason}"
    key = f"trainer: refused v{run.reward_model_refused}"
    return [Finding(key, "trainer", text, page=MODELS)]


def _of_alarm(run: RunView | None, alarm: GamingAlarm | None) -> list[Finding]:
    if run is None or alarm is None or run.status in OVER:
        return []
    if (run.run_id, run.reward_model_version) != (alarm.run_id, alarm.version):
        return []
    text = f"{alarm.description}; check what it rewards, and activate another version if needed"
    return [Finding(f"gaming: v{alarm.version}", "reward-model", text, page=ALARMS)]
