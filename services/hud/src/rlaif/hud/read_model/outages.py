"""What stops the ring or leads it astray.

What services say, who is silent, what gets no answer, what is paid against the judges.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from rlaif.contracts.reward_models import GamingAlarm
from rlaif.contracts.telemetry import ServiceHealth
from rlaif.hud.read_model.judge_health import JudgeHealth
from rlaif.hud.read_model.ring_health import BRIEF, Finding, RingHealth, Troubles, findings_of
from rlaif.hud.read_model.views import FailingJudge, RunView, ServiceView, TroubleView

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
