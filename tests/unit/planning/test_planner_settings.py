"""Where the planner is, when it is off, and where its key never stands."""

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from rlaif.trainer.checks import WrongSettingsError, check, with_overrides
from rlaif.trainer.learner.ray_job import environment
from rlaif.trainer.planning.planner import open_planner
from rlaif.trainer.run_folder.record import begin_attempt
from rlaif.trainer.service.runs import supervisor
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.planner import PlannerSettings

ON = PlannerSettings(base_url="http://llm:8000/")


def with_planner(**changes) -> TrainerSettings:
    planner = PlannerSettings(**({"base_url": "http://llm:8000"} | changes))
    return TrainerSettings(planner=planner)


def test_without_an_address_there_is_no_planner():
    assert not PlannerSettings().is_on
    assert open_planner(PlannerSettings()) is None
    with pytest.raises(ValueError, match="TRAINER_PLANNER_BASE_URL"):
        PlannerSettings().url("dialog")


@pytest.mark.parametrize("blank", ["", "  "])
def test_what_a_compose_file_leaves_blank_is_unset(blank, monkeypatch):
    for name in (
        "TRAINER_PLANNER_BASE_URL",
        "TRAINER_PLANNER_API_KEY",
        "TRAINER_PLANNER_PUZZLE_URL",
    ):
        monkeypatch.setenv(name, blank)
    planner = TrainerSettings().planner
    assert (planner.is_on, planner.api_key, planner.puzzle_url) == (False, None, None)


def test_an_address_opens_a_planner_and_no_connection():
    planner = open_planner(ON)
    assert planner is not None
    planner.close()


def test_a_route_is_a_path_below_the_address_unless_it_has_its_own():
    planner = PlannerSettings(base_url="http://llm:8000/", puzzle_url="http://big:9000")
    assert planner.url("dialog") == "http://llm:8000/dialog"
    assert planner.url("vision") == "http://llm:8000/vision"
    assert planner.url("puzzle") == "http://big:9000"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_url": "llm:8000"}, "TRAINER_PLANNER_BASE_URL"),
        ({"base_url": "http://"}, "TRAINER_PLANNER_BASE_URL"),
        ({"puzzle_url": "ftp://llm"}, "TRAINER_PLANNER_PUZZLE_URL"),
        ({"base_url": "http://[::1"}, "TRAINER_PLANNER_BASE_URL"),
        ({"base_url": None, "puzzle_url": "http://big:9000"}, "PUZZLE_URL is set.*BASE_URL"),
        ({"api_key": SecretStr("sk-1\n")}, "TRAINER_PLANNER_API_KEY"),
        ({"ca_file": "/nowhere/ca.pem"}, "TRAINER_PLANNER_CA_FILE"),
    ],
)
def test_a_run_does_not_start_with_a_planner_that_cannot_work(changes, said):
    with pytest.raises(WrongSettingsError, match=said) as refused:
        check(with_planner(**changes))
    assert "sk-1" not in str(refused.value)


def test_what_a_planner_that_is_off_would_need_is_not_looked_at():
    check(TrainerSettings(planner=PlannerSettings(ca_file="/nowhere/ca.pem")))


@pytest.mark.parametrize(
    "name", ["planner_base_url", "planner_vision_url", "planner_api_key", "TRAINER_PLANNER_CA_FILE"]
)
def test_who_starts_a_run_cannot_send_the_key_elsewhere(name):
    with pytest.raises(WrongSettingsError, match="cannot differ from run to run"):
        with_overrides(with_planner(api_key="sk-1"), {name: "http://elsewhere"})


def test_how_much_is_asked_can_differ_from_run_to_run():
    settings = with_overrides(with_planner(api_key="sk-1"), {"planner_plan_seconds": 2})
    assert settings.planner.plan_seconds == 2
    assert settings.planner.api_key == SecretStr("sk-1")


def test_the_key_stands_in_no_file_and_in_no_job(tmp_path):
    settings = with_planner(api_key="sk-1", chat_template_kwargs={"enable_thinking": False})
    path = begin_attempt(tmp_path, "r1", settings, datetime(2026, 1, 1, tzinfo=UTC))
    assert "sk-1" not in path.read_text()
    job = environment(settings)
    assert "sk-1" not in str(job)
    assert job["TRAINER_PLANNER_BASE_URL"] == "http://llm:8000"
    assert job["TRAINER_PLANNER_CHAT_TEMPLATE_KWARGS"] == '{"enable_thinking": false}'
    assert "sk-1" not in repr(settings)


def test_the_training_process_gets_the_key_however_the_service_got_it(monkeypatch):
    given = supervisor._environment(with_planner(api_key="sk-1"))
    assert given["TRAINER_PLANNER_API_KEY"] == "sk-1"
    assert "TRAINER_PLANNER_API_KEY" not in supervisor._environment(TrainerSettings())
