"""Statistics of the language model's help, from fragments to message, metrics and telemetry."""

from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.learner.algorithm.learner_rewards import LearnedRewards
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.planner_counts import ModeCounts, PlannerCounts, one_call
from rlaif.trainer.run_folder.protocol import MESSAGES, IterationDone
from rlaif.trainer.service.metrics import AssistanceMetrics
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 11, 22, tzinfo=UTC)


class Played:
    """What the tally looks at of a fragment without episodes."""

    captures = ()
    episodes = ()
    env_index_of_end = ()
    segments_skipped = 0
    continues = True
    runner = 1
    steps = 1
    actions = np.zeros((1, 1), dtype=np.int64)

    def __init__(self, assistance):
        self.reward_parts: dict[str, float] = {}
        self.assistance = assistance

    def of_policy(self):
        return self


def tallied(*iterations, tally=None):
    tally = tally or RunTally()
    for accounts in iterations:
        shaping = [np.zeros((1, 1), dtype=np.float32) for _ in accounts]
        learned = LearnedRewards(parts={"game": shaping, "shaping": shaping}, rises=shaping)
        tally.add([Played(account) for account in accounts], learned)
    return tally


def account(*, ok=0, timeouts=0, invalid=0, in_flight=0, event=None, **tables):
    counts = ModeCounts()
    for _ in range(ok):
        counts += one_call("ok", 0.4)
    for _ in range(timeouts):
        counts += one_call("timeout", 15.0)
    for _ in range(invalid):
        counts += one_call("invalid", 4.0)
    planner = PlannerCounts({"dialog": counts}, {"dialog": in_flight} if in_flight else {})
    return AssistanceFigures(planner=planner, events=[event] if event else [], **tables)


def event(**values):
    basics = {"kind": "plan", "mode": "dialog", "env": "1-0", "step": 7, "call": "ok"}
    return AssistanceEvent(**{**basics, **values})


def done(tally) -> IterationDone:
    counts = {"segments_captured": 0, "segments_skipped": 0, "episodes": 0}
    message = IterationDone(
        iteration=1, env_steps=1000, steps_per_second=5.0, reward_parts={}, learner={},
        assistance=tally.assistance(), **counts,
    )  # fmt: skip
    read = MESSAGES.validate_json(message.line())
    assert isinstance(read, IterationDone)
    return read


def test_an_iteration_reports_its_own_counts_and_those_of_the_run():
    taken = {"plans": {"dialog": {"taken": 1}}}
    reported = done(
        tallied([account(ok=2, in_flight=3, **taken), None], [account(ok=1, in_flight=1)])
    ).assistance
    assert reported is not None
    assert reported.by_mode["dialog"].calls == {"ok": 1}
    assert reported.of_run["dialog"].calls == {"ok": 3}
    assert reported.of_run["dialog"].plans == {"taken": 1}
    assert reported.of_run["dialog"].in_flight == 1, "those that wait now, not all that ever did"
    assert sum(reported.latency["dialog"]) == 1


def test_the_counts_of_the_run_survive_a_checkpoint():
    resumed = RunTally()
    resumed.load_state_dict(tallied([account(ok=2)]).state_dict())
    reported = done(tallied([account(ok=1)], tally=resumed)).assistance
    assert reported is not None
    assert reported.of_run["dialog"].calls == {"ok": 3}


def test_a_checkpoint_without_assistance_resumes():
    state = tallied([None]).state_dict()
    del state["assisted"]
    RunTally().load_state_dict(state)


@pytest.fixture
def metrics() -> ServiceMetrics:
    return ServiceMetrics("trainer")


def test_metrics_move_with_every_figure_that_an_iteration_reports(metrics):
    shown = AssistanceMetrics(metrics)
    figures = account(
        ok=2,
        timeouts=1,
        in_flight=2,
        plans={"dialog": {"taken": 2, "stale": 1}},
        takeovers={"dialog": {"done": 1, "hurt": 1}},
        planner_steps={"dialog": 30},
        suggestions={"vision": {"given": 4, "followed": 3}},
        bonus={"vision": 1.5},
    )
    reported = done(tallied([figures])).assistance
    assert reported is not None
    shown.iterated(reported)
    shown.iterated(reported)

    def value(name, **labels):
        return metrics.registry.get_sample_value(f"rlaif_trainer_{name}", labels)

    assert value("planner_calls_total", mode="dialog", outcome="ok") == 4
    assert value("planner_calls_total", mode="dialog", outcome="timeout") == 2
    assert value("planner_calls_in_flight", mode="dialog") == 2
    assert value("plans_total", mode="dialog", fate="stale") == 2
    assert value("takeovers_total", mode="dialog", ending="done") == 2
    assert value("takeovers_total", mode="dialog", ending="hurt") == 2
    assert value("planner_steps_total", mode="dialog") == 60
    assert value("suggestions_total", mode="vision", fate="followed") == 6
    assert value("guidance_bonus_total", mode="vision") == 3.0
    assert value("planner_call_seconds_bucket", mode="dialog", le="0.5") == 4
    assert value("planner_call_seconds_bucket", mode="dialog", le="+Inf") == 6
    assert value("planner_call_seconds_count", mode="dialog") == 6
    assert value("planner_call_seconds_sum", mode="dialog") == pytest.approx(2 * 15.8)


def test_a_route_without_reports_has_nothing_in_flight(metrics):
    shown = AssistanceMetrics(metrics)
    for figures in (account(ok=1, in_flight=2), AssistanceFigures()):
        reported = done(tallied([figures])).assistance
        assert reported is not None
        shown.iterated(reported)
    labels = {"mode": "dialog"}
    assert metrics.registry.get_sample_value("rlaif_trainer_planner_calls_in_flight", labels) == 0


def after(*accounts) -> RunState:
    state = RunState(run_id="run-1")
    for each in accounts:
        state = state.after(done(tallied([each])))
    return state


def test_a_route_without_answers_is_named_with_the_reason():
    why = event(call="timeout", ending_reason="no answer within 15 s")
    trouble = after(account(timeouts=2), account(timeouts=2, event=why)).planner_issue
    assert trouble is not None
    assert "route dialog" in trouble
    assert "4 calls ended with timeout" in trouble
    assert "no answer within 15 s" in trouble
    assert "training continues" in trouble


def test_a_route_whose_answers_are_all_unusable_is_named_with_the_reason():
    why = event(call="invalid", ending_reason="cut off after 768 tokens")
    trouble = after(account(invalid=2), account(invalid=2, event=why)).planner_issue or ""
    assert "4 calls ended with invalid (cut off after 768 tokens)" in trouble


@pytest.mark.parametrize(
    "accounts",
    [
        (account(timeouts=1),),
        (account(timeouts=9), account(ok=1)),
        (account(timeouts=9, ok=1),),
        (account(invalid=9, ok=1),),
        (account(timeouts=9), None),
    ],
    ids=["one accident", "answers again", "some answers", "some usable", "no planner any more"],
)
def test_a_route_that_answers_is_not_down(accounts):
    assert after(*accounts).planner_issue is None


def test_a_paused_route_stays_down_until_it_answers():
    resting = AssistanceFigures(
        planner=PlannerCounts({"dialog": ModeCounts(not_asked={"resting": 5})})
    )
    state = after(account(timeouts=1), resting, AssistanceFigures())
    assert "route dialog" in (state.planner_issue or "")
    assert state.assistance(NOW).down.keys() == {"dialog"}
    assert state.after(done(tallied([account(ok=1)]))).planner_issue is None


def manager_after_a_call(settings: TrainerSettings) -> RunManager:
    runs = RunManager(settings, ServiceMetrics("trainer"))
    runs._current = RunSupervisor(settings, "run-1")
    runs._note(done(tallied([account(ok=1, event=event(wanted=("UP",)))])))
    return runs


def test_the_service_of_a_ray_job_sends_no_event_since_the_job_does(tmp_path):
    settings = TrainerSettings.model_validate({"data_dir": tmp_path, "run_on": "ray-job"})
    assert manager_after_a_call(settings).take_player_calls() == []


def test_every_event_is_sent_once(tmp_path):
    runs = manager_after_a_call(TrainerSettings(data_dir=tmp_path))
    (sent,) = runs.take_player_calls()
    assert (sent.run_id, sent.wanted, sent.mode) == ("run-1", ("UP",), "dialog")
    assert runs.take_player_calls() == []
