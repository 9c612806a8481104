"""How the services of the ring are, by their own word, and what that means for the ring.

    readings of `/readyz`, on plain NATS ──▶ a state for each service
    states, calls, counts                ──▶ troubles: what has stopped, and why

A service that is silent is a trouble; one that was never heard is not known, which is something
else. While the HUD itself hears nothing it says nothing of others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rlaif.contracts.telemetry import ServiceHealth
from rlaif.hud.read_model.views import CheckView, ServiceState, ServiceView, TroubleView

RING = ("trainer", "exporter", "judge", "reward-model")
"""The services that the ring cannot do without, in its order."""

SILENCE = timedelta(seconds=8)
"""Four reports that did not come."""

NEVER = timedelta(seconds=20)
"""After this long a service that was never heard is missed, when others are heard."""

BRIEF = timedelta(seconds=2)
"""A check that fails for less is a service that starts or connects again."""

FORGET = timedelta(minutes=10)
"""A service that is not of the ring, and is gone, is dropped after this long."""


@dataclass(frozen=True)
class _Heard:
    reading: ServiceHealth
    at: datetime


class RingHealth:
    """The newest word of every process."""

    def __init__(self, started: datetime) -> None:
        self._since = started
        self._heard: dict[str, dict[str, _Heard]] = {}

    def heard(self, reading: ServiceHealth, now: datetime) -> None:
        """A process told how it is."""
        of_service = self._heard.setdefault(reading.service, {})
        of_service[reading.instance] = _Heard(reading, now)
        for instance in [i for i, each in of_service.items() if now - each.at >= SILENCE]:
            # It speaks no more and another one does: a restart, or fewer replicas.
            del of_service[instance]

    def deaf(self, now: datetime) -> None:
        """The HUD heard nothing until now: silence before it says nothing of the others."""
        self._since = now

    def views(self, now: datetime, *, hears: bool) -> tuple[ServiceView, ...]:
        """Every service of the ring, then others that were heard lately."""
        others = sorted(
            name
            for name, heard in self._heard.items()
            if name not in RING and now - max(each.at for each in heard.values()) < FORGET
        )
        return tuple(self._view(name, now, hears=hears) for name in (*RING, *others))

    def missed(self, now: datetime) -> frozenset[str]:
        """Services of the ring that were never heard, though others are."""
        if not self._heard or now - self._since < NEVER:
            return frozenset()
        return frozenset(name for name in RING if name not in self._heard)

    def _view(self, name: str, now: datetime, *, hears: bool) -> ServiceView:
        heard = list(self._heard.get(name, {}).values())
        live = [each for each in heard if now - max(each.at, self._since) < SILENCE]
        newest = max(heard, key=lambda each: each.at, default=None)
        state: ServiceState = "unknown"
        if hears and newest is not None:
            state = _state([each.reading for each in live], newest.reading)
        return ServiceView(
            name=name,
            state=state,
            heard_at=newest.at if newest else None,
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


def _worst(told: Iterable[Mapping[str, str | None]]) -> dict[str, CheckView]:
    """Check → how it is; failing when it fails in one process."""
    details: dict[str, str | None] = {}
    for checks in told:
        for name, detail in checks.items():
            details[name] = details.get(name) or detail
    return {name: CheckView(ok=why is None, detail=why) for name, why in details.items()}


@dataclass(frozen=True)
class Finding:
    """Something that stops the ring; `key` stays the same as long as it lasts.

    `since` is when it began, where that is known better than when the HUD noticed; up to the age
    `brief` it is nothing to speak of. `page` is the address on the HUD that shows more of it.
    """

    key: str
    who: str
    what: str
    since: datetime | None = None
    brief: timedelta = timedelta()
    page: str | None = None


class Troubles:
    """Remembers since when each finding stands."""

    def __init__(self) -> None:
        self._since: dict[str, datetime] = {}

    def views(self, findings: Sequence[Finding], now: datetime) -> tuple[TroubleView, ...]:
        """The findings of now, in their order."""
        known, self._since = self._since, {}
        for each in findings:
            self._since[each.key] = each.since or known.get(each.key, now)
        return tuple(
            TroubleView(
                key=each.key,
                who=each.who,
                what=each.what,
                since=self._since[each.key],
                page=each.page,
            )
            for each in findings
            if now - self._since[each.key] >= each.brief
        )


def findings_of(services: Iterable[ServiceView], missed: frozenset[str]) -> list[Finding]:
    """What the services themselves say, or do not say any more."""
    found = []
    for service in services:
        who = service.name
        if service.state == "silent":
            found.append(
                Finding(
                    f"{who}: silent",
                    who,
                    "no word from it: it hangs, lost NATS or is gone; see its log",
                    service.heard_at,
                )
            )
        elif service.state == "stopped":
            found.append(Finding(f"{who}: stopped", who, "was stopped", service.heard_at))
        elif who in missed:
            found.append(
                Finding(f"{who}: missed", who, "no word from it since the HUD started; start it")
            )
        for name, check in service.checks.items():
            if not check.ok and service.state != "stopping":
                text = f"{name}: {check.detail}"
                found.append(Finding(f"{who}: {name}", who, text, brief=BRIEF))
    return found
