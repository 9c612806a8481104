"""The language model that plays: two kinds of readings in, one section of the snapshot out."""

from datetime import timedelta
from typing import Any

from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.readings import AssistanceStatus, PlayerCall
from rlaif.hud.read_model.projections import PLANS_SHOWN
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import judge_call_ended
from rlaif.testing.page.broadcasts import broadcast_of


def player_call(step: int = 7, **values: Any) -> PlayerCall:
    basics = {
        "at": NOON,
        "kind": "plan",
        "mode": "dialog",
        "env": "1-0",
        "call": "ok",
        "run_id": "run-1",
    }
    return PlayerCall.model_validate({"step": step, **basics, **values})


def status(**values: Any) -> AssistanceStatus:
    basics = {"at": NOON, "run_id": "run-1", "env_steps": 1000, "has_planner": True}
    return AssistanceStatus.model_validate({**basics, **values})


def test_calls_of_judges_and_of_the_player_on_one_subject_are_distinguished(state):
    outcomes: list[tuple[str, str]] = []
    broadcast = broadcast_of(state, outcomes=outcomes)
    state.apply_reading(status(), NOON)
    for reading in (judge_call_ended(), player_call(), judge_call_ended()):
        broadcast.telemetry("telemetry.llm", reading.model_dump_json().encode())
    assert outcomes == [("telemetry.llm", "used")] * 3
    shown = state.snapshot(NOON)
    assert len(state.judge_calls) == 2
    assert shown.assistance is not None
    assert len(shown.assistance.newest) == 1


def test_figures_are_unknown_until_the_trainer_reports(state):
    state.apply_reading(player_call(), NOON)
    assert state.snapshot(NOON).assistance is None


def test_rates_leave_out_what_was_no_call(state):
    """Cached answers cost no call, and what was dropped was not asked to the end."""
    figures = ModeFigures(calls={"ok": 10, "timeout": 2, "dropped": 5}, cached=4)
    state.apply_reading(status(by_mode={"dialog": figures}), NOON)
    view = state.snapshot(NOON).assistance
    assert view is not None
    assert (view.ok, view.calls) == (6, 8)


def test_sums_are_those_of_the_routes(state):
    dialog = ModeFigures(
        takeovers={"done": 3, "hurt": 1}, planner_steps=40, timed=4, seconds=2.0,
        suggestions={"given": 9, "followed": 2, "expired": 1, "left": 1},
    )  # fmt: skip
    vision = ModeFigures(suggestions={"given": 2, "followed": 1, "declined": 1})
    state.apply_reading(status(by_mode={"dialog": dialog, "vision": vision}), NOON)
    view = state.snapshot(NOON).assistance
    assert view is not None
    assert (view.done, view.takeovers, view.planner_steps) == (3, 4, 40)
    assert (view.followed, view.suggestions) == (3, 6)
    assert view.modes["dialog"].latency_mean_seconds == 0.5
    assert view.modes["vision"].latency_mean_seconds is None, "nothing was timed"


def test_only_the_newest_are_kept_and_only_those_of_the_run_are_shown(state):
    state.apply_reading(player_call(run_id="run-0"), NOON)
    for step in range(PLANS_SHOWN + 5):
        state.apply_reading(player_call(step, at=NOON + timedelta(seconds=step)), NOON)
    state.apply_reading(player_call(run_id="run-0"), NOON)
    state.apply_reading(status(), NOON)
    view = state.snapshot(NOON).assistance
    assert view is not None
    times = [NOON + timedelta(seconds=step) for step in range(PLANS_SHOWN + 4, 4, -1)]
    assert [each.at for each in view.newest] == times
