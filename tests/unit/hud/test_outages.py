from datetime import datetime, timedelta

from rlaif.contracts.reward_models import GamingAlarm, GamingReason
from rlaif.contracts.telemetry.readings import ServiceHealth
from rlaif.hud.read_model.health import REQUIRED
from rlaif.hud.read_model.projections import HudState
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import reward_model_status, training_progress

WELL: dict[str, str | None] = {"bus": None, "store": None}


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def hud() -> HudState:
    state = HudState(epoch="e", started_at=NOON)
    state.streams_opened()
    state.health.checked(WELL, 0, NOON)
    return state


def judge_says(state: HudState, seconds: float, detail: str | None = None) -> None:
    """The other services are healthy."""
    for service in REQUIRED:
        own = detail if service == "judge" else None
        reading = ServiceHealth(
            at=after(seconds),
            service=service,
            instance=f"{service}-1",
            status="not ready" if own else "ready",
            checks={"route vision": own},
        )
        state.apply_reading(reading, after(seconds))


def plays(state: HudState, status: str, *, version: int | None = None) -> None:
    state.apply_reading(training_progress(status=status, reward_model_version=version), NOON)


def issues(state: HudState, seconds: float) -> list[str]:
    return [f"{each.service}: {each.description}" for each in state.snapshot(after(seconds)).issues]


def test_an_issue_keeps_the_time_at_which_it_began() -> None:
    state = hud()
    judge_says(state, 1, "refused: HTTP 400")
    assert issues(state, 1) == [], "services that start or reconnect fail for a moment"
    for seconds in (3, 5, 7):
        judge_says(state, seconds, "refused: HTTP 400")
        [issue] = state.snapshot(after(seconds)).issues
    assert (issue.service, issue.description) == ("judge", "route vision: refused: HTTP 400")
    assert issue.since == after(1)
    judge_says(state, 8)
    assert issues(state, 8) == []


def test_a_hud_without_bus_reports_no_other_service() -> None:
    state = hud()
    judge_says(state, 1)
    state.health.checked(WELL | {"bus": "NATS does not answer"}, 0, after(2))
    assert issues(state, 2) == []
    for seconds in range(4, 60, 2):
        state.health.checked(WELL | {"bus": "NATS does not answer"}, 0, after(seconds))
        [text] = issues(state, seconds)
        assert text == "hud: the message bus is not available: NATS does not answer"
    state.health.checked(WELL, 0, after(60))
    assert issues(state, 60) == [], "the judge has not had time to speak"


def test_a_machine_that_slept_reports_no_service_as_missing() -> None:
    state = hud()
    judge_says(state, 1)
    assert issues(state, 2) == []
    assert issues(state, 3600) == []


def test_a_rejected_reward_model_is_an_issue() -> None:
    state = hud()
    reading = training_progress(
        reward_model_refused=2, reward_model_refusal="hash_mismatch: not that file"
    )
    state.apply_reading(reading, NOON)
    [text] = issues(state, 0)
    assert text.startswith("trainer: rejected reward model v2")
    assert "hash_mismatch" in text
    assert state.snapshot(NOON).issues[0].page == "/models"
    state.apply_reading(reading.model_copy(update={"status": "finished"}), NOON)
    assert issues(state, 0) == [], "a run that is over uses none"


def test_a_gaming_alarm_is_an_issue_while_the_run_uses_the_version() -> None:
    state = hud()
    alarm = GamingAlarm(
        version=7, run_id="run-1", env_step=60, rise=0.1, raised_at=NOON,
        reasons=(GamingReason.RAM_PROGRESS_FLAT, GamingReason.JUDGES_SCORES_FALL),
        description="possible reward hacking: RAM progress flat; judges' scores fall",
    )  # fmt: skip
    state.apply_reading(reward_model_status(gaming_alarm=alarm), NOON)
    plays(state, "training", version=6)
    assert issues(state, 60) == [], "another version is in use"
    plays(state, "training", version=7)
    [issue] = state.snapshot(after(60)).issues
    assert (issue.key, issue.service) == ("gaming: v7", "reward-model")
    assert alarm.description in issue.description
    assert issue.page == "/models#models-watch"
    assert [each.since for each in state.snapshot(after(90)).issues] == [after(60)]
    plays(state, "stopped", version=7)
    assert issues(state, 90) == []
