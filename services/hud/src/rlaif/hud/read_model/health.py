"""Health of the services as each reports it, and the issues that follow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rlaif.contracts.reward_models import GamingAlarm
from rlaif.contracts.telemetry import ServiceHealth
from rlaif.hud.read_model.judge_health import JudgeHealth
from rlaif.hud.read_model.views import (
    CheckView,
    FailingJudge,
    RunView,
    ServiceState,
    ServiceView,
    TroubleView,
)

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


STALLED = timedelta(seconds=20)
"""Segments that wait for so long without any call's end are stuck."""

STALLED_UNKNOWN = timedelta(seconds=60)
"""The same while nobody knows how long a call takes."""

SLOW_CALLS = 3.0
"""Times the latency of the slowest calls (p95) that a wait is no stall."""

NAP = timedelta(seconds=5)
"""A HUD that did not look for so long heard nothing meanwhile: the machine slept."""

LLM, MODELS, ALARMS = "/llm", "/models", "/models#models-watch"
"""Pages that show more."""

OVER = ("stopped", "finished", "failed")
"""What the trainer calls a run that does not go on."""

OWN_CHECKS = {"bus": "the message bus", "store": "the object store"}


class Outages:
    """Folds the health of the ring into `services` and `troubles`, as of the last look."""

    def __init__(self, started_at: datetime | None) -> None:
        self.started_at = started_at
        self.services: tuple[ServiceView, ...] = ()
        self.troubles: tuple[TroubleView, ...] = ()
        self._ring = RingHealth(started_at) if started_at else None
        self._known = Troubles()
        self._own: dict[str, str | None] = {}
        self._looked_at: datetime | None = None
        self._waits_since: datetime | None = None

    def heard(self, reading: ServiceHealth, now: datetime) -> None:
        """A service told how it is."""
        self._of(now).heard(reading, now)

    def own(self, checks: dict[str, str | None], now: datetime) -> None:
        """What the HUD itself needs: check → why it is not there, or None."""
        if self._own.get("bus") is not None:
            self._of(now).deaf(now)
        self._own = checks

    def look(
        self,
        now: datetime,
        judge: JudgeHealth,
        *,
        waiting: int,
        scored_at: datetime | None,
        run: RunView | None,
        alarm: GamingAlarm | None = None,
    ) -> None:
        """Make services and troubles of `now`; `waiting` counts segments without their scores."""
        ring = self._of(now)
        if self._looked_at is not None and now - self._looked_at > NAP:
            ring.deaf(now)
        self._looked_at = now
        hears = self._own.get("bus") is None
        self.services = ring.views(now, hears=hears)
        found = [
            Finding(
                f"hud: {name}",
                "hud",
                f"{OWN_CHECKS.get(name, name)} is not there: {why}",
                brief=BRIEF,
            )
            for name, why in self._own.items()
            if why is not None
        ]
        if hears:
            found += findings_of(self.services, ring.missed(now))
            found += self._of_judge(now, judge, waiting, scored_at)
        self.troubles = self._known.views([*found, *_of_run(run), *_of_alarm(run, alarm)], now)

    def _of_judge(
        self, now: datetime, judge: JudgeHealth, waiting: int, scored_at: datetime | None
    ) -> list[Finding]:
        """What the calls show, unless the judge itself says what is wrong."""
        stalled = self._stalled(now, judge, waiting, scored_at)
        said = next((each for each in self.services if each.name == "judge"), None)
        if said is not None and said.state in ("not ready", "silent", "stopping", "stopped"):
            return []
        return _unanswered(judge.failing) or stalled

    def _stalled(
        self, now: datetime, judge: JudgeHealth, waiting: int, scored_at: datetime | None
    ) -> list[Finding]:
        self._waits_since = (self._waits_since or now) if waiting else None
        if self._waits_since is None:
            return []
        since = max(filter(None, (self._waits_since, judge.last_call_at, scored_at)))
        slow = judge.view().latency_p95_seconds
        patience = STALLED_UNKNOWN
        if slow is not None:
            patience = max(STALLED, timedelta(seconds=SLOW_CALLS * slow))
        if now - since < patience:
            return []
        many = "1 segment waits" if waiting == 1 else f"{waiting} segments wait"
        text = f"no call of a language model has ended, and {many} for a score"
        return [Finding("judge: stalled", "judge", text, since, page=LLM)]

    def _of(self, now: datetime) -> RingHealth:
        """The services; made at the first moment that is known."""
        if self._ring is None:
            self.started_at = self.started_at or now
            self._ring = RingHealth(now)
        return self._ring


def _unanswered(failing: Sequence[FailingJudge]) -> list[Finding]:
    if not failing:
        return []
    models = "model" if len(failing) == 1 else "models"
    names = ", ".join(f"{each.judge} ({each.route})" for each in failing)
    outcomes = " or ".join(sorted({each.outcome for each in failing}))
    calls = sum(each.calls for each in failing)
    text = f"no answer from the language {models} of {names}: "
    text += f"the newest {calls} calls ended with {outcomes}; segments wait for them"
    since = min(each.since for each in failing)
    return [Finding("judge: unanswered", "judge", text, since, page=LLM)]


def _of_run(run: RunView | None) -> list[Finding]:
    if run is None or run.reward_model_refused is None:
        return []
    reason = run.reward_model_refusal or "no reason was told"
    text = f"refused reward model v{run.reward_model_refused}; the one before it counts: {reason}"
    key = f"trainer: refused v{run.reward_model_refused}"
    return [Finding(key, "trainer", text, page=MODELS)]


def _of_alarm(run: RunView | None, alarm: GamingAlarm | None) -> list[Finding]:
    """The alarm, while the run continues and still uses the version."""
    if run is None or alarm is None or run.status in OVER:
        return []
    if (run.run_id, run.reward_model_version) != (alarm.run_id, alarm.version):
        return []
    text = f"{alarm.description}; check what it rewards, and activate another version if needed"
    return [Finding(f"gaming: v{alarm.version}", "reward-model", text, page=ALARMS)]
