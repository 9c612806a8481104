"""The JSON of the language models' page: routes, answers, and remedies for failures."""

from datetime import timedelta
from typing import Any

import pytest

from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.readings import AssistanceStatus, JudgeCall, PlayerCall
from rlaif.hud.read_model.llm import LlmView, calls_view, llm_view
from rlaif.hud.read_model.trainer import TrainerReadings
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import judge_call_ended

OUTCOMES = ("invalid", "length", "throttled", "refused", "error", "timeout")


class Page:
    """Calls go in, the page's JSON comes out; segment-1 is one that the HUD knows."""

    def __init__(self) -> None:
        self._judges: list[JudgeCall] = []
        self._trainer = TrainerReadings()
        self._second = 0

    def judged(self, outcome: str = "ok", seconds: float = 1.0, judge: str = "state") -> None:
        self._second += 1
        call = judge_call_ended(
            outcome, at=NOON + timedelta(seconds=self._second), judge=judge, route=f"/{judge}",
            model="a-model", segment_id="segment-1", latency_seconds=seconds,
            rationale="It went on." if outcome == "ok" else None,
        )  # fmt: skip
        self._judges.append(call)

    def played(self, call: str = "ok", **changes: Any) -> None:
        self._second += 1
        reading = PlayerCall(
            at=NOON + timedelta(seconds=self._second), run_id="run-1", kind="plan",
            mode="dialog", env="1-0", step=1, call=call, **changes,
        )  # fmt: skip
        self._trainer.apply(reading, NOON)

    def reported(self, **figures: Any) -> None:
        modes = {"dialog": ModeFigures(**figures)}
        reading = AssistanceStatus(at=NOON, run_id="run-1", env_steps=9, by_mode=modes)
        self._trainer.apply(reading, NOON)

    def view(self) -> LlmView:
        return llm_view(self._judges, self._trainer)

    def said(self, **choice: Any) -> list[Any]:
        choice = {"user": None, "failed": None, "limit": 40} | choice
        episodes = {"segment-1": "episode-1"}
        return list(calls_view(self._judges, self._trainer, episodes.get, **choice).items)


def test_a_route_has_its_success_with_n_and_its_latencies() -> None:
    page = Page()
    for number in range(1, 20):
        page.judged(seconds=number / 10)
    page.judged("timeout", seconds=90)
    (route,) = page.view().routes
    assert (route.user, route.name, route.route, route.model) == (
        "judge", "state", "/state", "a-model",
    )  # fmt: skip
    assert (route.calls, route.ok, route.timed) == (20, 19, 19)
    assert route.outcomes == {"ok": 19, "timeout": 1}
    assert route.latency_p50_seconds == pytest.approx(1.0)
    assert route.latency_p95_seconds == pytest.approx(1.81), "of calls that ended well"
    assert route.tokens_read is None, "the judge service knows; the HUD does not"
    assert route.down is None


def test_planner_counts_are_the_trainers_and_latencies_those_of_its_calls() -> None:
    page = Page()
    page.reported(calls={"ok": 61, "timeout": 3, "dropped": 2}, cached=12, tokens_read=900)
    page.played(latency_seconds=2.0)
    page.played(latency_seconds=4.0)
    page.played(latency_seconds=0.0, cached=True)
    (route,) = page.view().routes
    assert (route.user, route.calls, route.ok) == ("planner", 52, 49)
    assert (route.latency_p50_seconds, route.timed) == (3.0, 2)
    assert (route.tokens_read, route.tokens_written) == (900, None), "no server wrote 0 tokens"


def test_how_long_a_route_takes_is_unknown_until_a_call_ends_well() -> None:
    page = Page()
    page.judged("timeout", seconds=90)
    page.reported(calls={"timeout": 1})
    for route in page.view().routes:
        assert (route.timed, route.latency_p50_seconds) == (0, None)


def test_every_failure_says_what_to_do_and_names_its_route() -> None:
    page = Page()
    for outcome in OUTCOMES:
        page.judged(outcome)
        page.played(outcome)
    errors = page.said(failed=True)
    assert len(errors) == 2 * len(OUTCOMES)
    assert [error.at for error in errors] == sorted((e.at for e in errors), reverse=True)
    for error in errors:
        assert error.remedy
        assert "No remedy is known" not in error.remedy or error.outcome == "length"
        assert error.route in error.remedy or (error.model or "") in error.remedy


def test_an_outcome_of_a_later_version_is_shown_and_reports_it() -> None:
    page = Page()
    page.judged("melted")
    (error,) = page.said()
    assert error.remedy is not None
    assert "`melted`" in error.remedy


def test_suggestions_and_their_outcomes_are_listed_newest_first() -> None:
    page = Page()
    page.judged()
    page.played(
        wanted=("MOVE_TO column=3", "PRESS A"), reason="The door.", followed=True, ending="done"
    )
    page.played("timeout", ending_reason="no answer in 15 s")
    late, plan, judged = page.said()
    assert (late.answer, late.ok, late.followed) == ("no answer in 15 s", False, None)
    assert plan.answer == "MOVE_TO column=3 → PRESS A — The door."
    assert (plan.followed, plan.ending, plan.request) == (True, "done", "a plan")
    assert (judged.answer, judged.segment_id, judged.remedy) == ("It went on.", "segment-1", None)
    assert [call.user for call in page.said(user="planner")] == ["planner", "planner"]
    assert page.said(failed=True) == [late]
    assert page.said(failed=False, limit=1) == [plan]
