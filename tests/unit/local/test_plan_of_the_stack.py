"""What is started, where, and with which settings."""

import stat
import sys
from pathlib import Path

import pytest

from rlaif.local.places import DataDirectory
from rlaif.local.stack import SERVICES, Options, Stack, plan


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Without what the demo would take over from whoever runs the tests."""
    for name in ("RAY_WORKERS", "ROM_PATH", "LLM_API_KEY", "LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture
def home(tmp_path: Path, environment: pytest.MonkeyPatch) -> DataDirectory:
    directory = DataDirectory(tmp_path / "var")
    directory.lock().close()
    return directory


def settings(stack: Stack, name: str) -> dict[str, str]:
    (spec,) = [each for each in (*stack.servers, *stack.services) if each.name == name]
    return dict(spec.environment)


def test_servers_come_first_and_the_page_before_the_other_services(home):
    stack = plan(Options(home.root))
    assert [spec.name for spec in stack.servers] == ["nats", "s3", "mock-llm"]
    assert [spec.name for spec in stack.services] == list(SERVICES)
    assert SERVICES[0] == "hud"


def test_every_part_listens_on_this_machine_only_and_on_a_port_of_its_own(home):
    stack = plan(Options(home.root))
    places = [spec.where for spec in (*stack.servers, *stack.services)]
    assert len(set(places)) == 8
    assert all("://127.0.0.1:" in place for place in places)
    for spec in stack.services:
        assert spec.command[:2] == (sys.executable, "-m")
        assert spec.command[3:5] == ("--host", "127.0.0.1")
        assert stack.urls[spec.name].endswith(f":{spec.command[-1]}")


def test_services_find_the_servers_and_share_the_token_for_writes(home):
    stack, secrets = plan(Options(home.root)), home.secrets()
    for name in SERVICES:
        found = settings(stack, name)
        assert found["NATS_URL"] == stack.servers[0].where.replace("//", f"//{secrets.nats_token}@")
        assert found["S3_ENDPOINT_URL"] == stack.servers[1].where
        assert found["RLAIF_API_TOKEN"] == stack.api_token == secrets.api_token


def test_the_page_finds_the_service_of_the_models_wherever_it_listens(home):
    stack = plan(Options(home.root))
    assert settings(stack, "hud")["HUD_REWARD_MODEL_URL"] == stack.urls["reward-model"]


def test_the_mock_stands_in_for_the_language_models_and_asks_for_the_same_token(home):
    stack = plan(Options(home.root))
    found = settings(stack, "judge")
    assert found["LLM_BASE_URL"] == stack.urls["mock-llm"]
    assert found["LLM_API_KEY"] == stack.api_token


def test_real_language_models_get_no_token_of_ours_and_no_mock_is_started(home):
    stack = plan(Options(home.root, llm_base_url="http://models.example:8000"))
    assert "mock-llm" not in [spec.name for spec in stack.servers]
    found = settings(stack, "judge")
    assert found["LLM_BASE_URL"] == "http://models.example:8000"
    assert "LLM_API_KEY" not in found


def test_the_mock_as_planner_gets_the_token_and_no_other_server_does(home, environment):
    # The same port twice, whoever else listens on this machine meanwhile.
    environment.setattr("rlaif.local.stack.free_port", lambda wanted, taken: wanted)
    environment.delenv("PLANNER_API_KEY", raising=False)
    environment.setenv("PLANNER_BASE_URL", "http://models.example:8000")
    stack = plan(Options(home.root))
    assert "PLANNER_API_KEY" not in settings(stack, "trainer")
    environment.setenv("PLANNER_BASE_URL", f"{stack.urls['mock-llm']}/")
    stack = plan(Options(home.root))
    assert settings(stack, "trainer")["PLANNER_API_KEY"] == stack.api_token


def test_what_the_user_set_wins_over_the_demos_own_choice(home, environment):
    assert settings(plan(Options(home.root)), "trainer")["RAY_WORKERS"] == "1"
    environment.setenv("RAY_WORKERS", "2")
    assert settings(plan(Options(home.root)), "trainer")["RAY_WORKERS"] == "2"


def test_the_users_game_is_handed_to_the_services(home, tmp_path):
    assert "ROM_PATH" not in settings(plan(Options(home.root)), "exporter")
    stack = plan(Options(home.root, rom_path=tmp_path / "seasons.gbc"))
    assert settings(stack, "exporter")["ROM_PATH"] == str(tmp_path / "seasons.gbc")
    assert settings(stack, "trainer")["TRAINER_DATA_DIR"] == str(home.root / "trainer")


def test_files_with_secrets_are_read_by_their_owner_only(home):
    stack, secrets = plan(Options(home.root)), home.secrets()
    tokens = (secrets.nats_token, secrets.s3_secret_key)
    files = [path for path in home.root.rglob("*") if path.is_file()]
    holding = [path for path in files if any(token in path.read_text() for token in tokens)]
    assert len(holding) >= 2
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in holding)
    commands = [word for spec in (*stack.servers, *stack.services) for word in spec.command]
    assert not [word for word in commands for token in tokens if token in word]
