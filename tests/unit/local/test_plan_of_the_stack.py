"""What is started, where, and with which settings."""

import asyncio
import errno
import importlib
import socket
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rlaif.files.failures import CommandError
from rlaif.local.places import DataDirectory, PortBusyError, Ports
from rlaif.local.stack import CREDENTIALS, SERVICES, Options, Stack, plan
from rlaif.service.settings import ServiceSettings, describe


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Without settings of the user who runs the tests."""
    settings = ("RAY_WORKERS", "ROM_PATH", "LLM_API_KEY", "LLM_BASE_URL", "S3_ENDPOINT_URL")
    for name in (*settings, "EPISODES_STORE", "MODELS_STORE"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture
def home(tmp_path: Path, environment: pytest.MonkeyPatch) -> DataDirectory:
    return data_directory(tmp_path / "var")


def data_directory(root: Path) -> DataDirectory:
    directory = DataDirectory(root)
    directory.lock().close()
    return directory


def planned(options: Options) -> Stack:
    """The plan; its ports are free again at once."""
    with Ports() as ports:
        return plan(options, ports)


def settings(stack: Stack, name: str) -> dict[str, str]:
    (spec,) = [each for each in (*stack.servers, *stack.services) if each.name == name]
    return dict(spec.environment)


def test_servers_come_first_and_the_page_before_the_other_services(home):
    stack = planned(Options(home.root))
    assert [spec.name for spec in stack.servers] == ["nats", "mock-llm"]
    assert [spec.name for spec in stack.services] == list(SERVICES)
    assert SERVICES[0] == "hud"


def test_every_part_listens_on_this_machine_only_and_on_a_port_of_its_own(home):
    stack = planned(Options(home.root))
    places = [spec.where for spec in (*stack.servers, *stack.services)]
    assert len(set(places)) == 7
    assert all("://127.0.0.1:" in place for place in places)
    for spec in stack.services:
        assert spec.command[:2] == (sys.executable, "-m")
        assert spec.command[3:5] == ("--host", "127.0.0.1")
        assert stack.urls[spec.name].endswith(f":{spec.command[-1]}")


def test_the_rewards_are_those_chosen_and_else_those_of_the_environment(home, environment):
    def preset(rewards: str | None = None) -> str:
        trainer = settings(planned(Options(home.root, rewards=rewards)), "trainer")
        return trainer["TRAINER_REWARD_PRESET"]

    assert (preset(), preset("game")) == ("novelty", "default")
    environment.setenv("TRAINER_REWARD_PRESET", "seed")
    assert (preset(), preset("game")) == ("seed", "default")


def test_services_find_the_servers_and_share_the_token_for_writes(home):
    stack, secrets = planned(Options(home.root)), home.secrets()
    for name in SERVICES:
        found = settings(stack, name)
        user = f"//{name}:{secrets.nats_password(name)}@"
        assert found["NATS_URL"] == stack.servers[0].where.replace("//", user)
        assert found["RLAIF_API_TOKEN"] == stack.api_token == secrets.api_token


def test_a_process_gets_the_credentials_that_it_uses_and_no_others(home, environment):
    environment.setenv("EPISODES_STORE", "s3://zelda-episodes")
    for name in ("LLM_API_KEY", "TRAINER_PLANNER_API_KEY"):
        environment.setenv(name, "of-the-user")
    stack = planned(Options(home.root, llm_base_url="http://127.0.0.1:8000/v1"))
    for spec in (*stack.servers, *stack.services):
        has = {name for name in spec.environment if name in CREDENTIALS}
        wanted = {name for name, users in CREDENTIALS.items() if spec.name in users}
        assert has == wanted, spec.name
    assert set(CREDENTIALS["LLM_API_KEY"]) == {"judge"}


def test_every_secret_setting_of_a_service_has_its_users_listed():
    found: dict[str, set[str]] = {}
    for name in (*SERVICES, "mock-llm"):
        package = importlib.import_module(f"rlaif.{name.replace('-', '_')}.settings")
        classes = [each for each in vars(package).values() if isinstance(each, type)]
        (own,) = [
            each
            for each in classes
            if issubclass(each, ServiceSettings) and each.service_name() == name
        ]
        for setting in describe(own):
            if "SecretStr" in str(setting.field.annotation):
                found.setdefault(setting.environment, set()).add(name)
    for variable, users in found.items():
        assert set(CREDENTIALS[variable]) <= users, variable


def test_objects_are_files_of_the_data_directory_that_its_owner_alone_reads(home):
    found = settings(planned(Options(home.root)), "trainer")
    assert found["EPISODES_STORE"] == str(home.root / "objects/zelda-episodes")
    assert found["MODELS_STORE"] == str(home.root / "objects/zelda-models")
    assert stat.S_IMODE((home.root / "objects").stat().st_mode) == 0o700


def test_a_store_in_s3_brings_its_server_and_keys(home, environment):
    environment.setenv("EPISODES_STORE", "s3://zelda-episodes")
    stack, secrets = planned(Options(home.root)), home.secrets()
    assert [spec.name for spec in stack.servers] == ["nats", "s3", "mock-llm"]
    for name in SERVICES:
        found = settings(stack, name)
        assert found["S3_ENDPOINT_URL"] == stack.servers[1].where
        assert (found["S3_ACCESS_KEY"], found["S3_SECRET_KEY"]) == (name, secrets.s3_secret(name))
        assert found["EPISODES_STORE"] == "s3://zelda-episodes"
        assert found["MODELS_STORE"] == str(home.root / "objects/zelda-models")


def test_a_directory_whose_objects_are_in_seaweedfs_keeps_them_there(home, environment):
    (home.root / "s3").mkdir()
    (home.root / "s3/filer.db").touch()
    stack = planned(Options(home.root))
    assert [spec.name for spec in stack.servers] == ["nats", "s3", "mock-llm"]
    found = settings(stack, "trainer")
    assert found["EPISODES_STORE"] == "s3://zelda-episodes"
    assert found["MODELS_STORE"] == "s3://zelda-models"
    environment.setenv("EPISODES_STORE", "/elsewhere/episodes")
    environment.setenv("MODELS_STORE", "/elsewhere/models")
    stack = planned(Options(home.root))
    assert [spec.name for spec in stack.servers] == ["nats", "mock-llm"]
    assert settings(stack, "trainer")["MODELS_STORE"] == "/elsewhere/models"


def stores(home: DataDirectory) -> list[str]:
    found = settings(planned(Options(home.root)), "trainer")
    return [found["EPISODES_STORE"], found["MODELS_STORE"]]


def test_a_directory_keeps_the_stores_of_its_last_start(home, environment, tmp_path):
    environment.setenv("EPISODES_STORE", "s3://zelda-episodes")
    environment.setenv("MODELS_STORE", "/elsewhere/models")
    chosen = stores(home)
    environment.delenv("EPISODES_STORE")
    environment.delenv("MODELS_STORE")
    assert stores(home) == chosen
    environment.setenv("MODELS_STORE", str(home.root / "models"))
    assert stores(home) == ["s3://zelda-episodes", str(home.root / "models")]
    environment.delenv("MODELS_STORE")
    moved = DataDirectory(home.root.rename(tmp_path / "moved"))
    assert stores(moved) == ["s3://zelda-episodes", str(moved.root / "models")]


@pytest.mark.parametrize("text", ["", "{", "[]1", "3"])
def test_damaged_addresses_are_named(home, text):
    (home.root / "addresses.json").write_text(text)
    with pytest.raises(OSError, match=r"addresses\.json") as caught:
        planned(Options(home.root))
    assert caught.value.errno == errno.EINVAL


@pytest.mark.parametrize(
    "named",
    [
        {"EPISODES_STORE": "s3://mine"},
        {"EPISODES_STORE": "folder"},
        {"MODELS_STORE": "s3://zelda-models", "S3_ENDPOINT_URL": "https://s3.example.com"},
        {"LLM_STATE_URL": "http://models.example"},
    ],
)
def test_a_server_that_would_not_be_used_is_refused(home, environment, named):
    for name, value in named.items():
        environment.setenv(name, value)
    with pytest.raises(CommandError, match=list(named)[-1]):
        planned(Options(home.root))
    assert not (home.root / "addresses.json").exists()


def test_variables_that_the_demo_sets_itself_are_listed(home, environment):
    assert planned(Options(home.root)).unused == ()
    for name in ("NATS_URL", "NATS_CA_FILE", "RLAIF_API_TOKEN", "RAY_WORKERS", "LLM_BASE_URL"):
        environment.setenv(name, "7")
    stack = planned(Options(home.root))
    assert stack.unused == ("NATS_CA_FILE", "NATS_URL", "RLAIF_API_TOKEN")
    assert settings(stack, "judge")["NATS_CA_FILE"] == "", "its NATS has no TLS"


def test_the_mock_stands_in_for_the_language_models_and_asks_for_the_same_token(home):
    stack = planned(Options(home.root))
    found = settings(stack, "judge")
    assert found["LLM_BASE_URL"] == stack.urls["mock-llm"]
    assert found["LLM_API_KEY"] == stack.api_token


def test_real_language_models_get_no_own_token_and_no_mock_is_started(home):
    stack = planned(Options(home.root, llm_base_url="http://models.example:8000"))
    assert "mock-llm" not in [spec.name for spec in stack.servers]
    found = settings(stack, "judge")
    assert found["LLM_BASE_URL"] == "http://models.example:8000"
    assert "LLM_API_KEY" not in found


def test_the_mock_as_planner_gets_the_token_and_no_other_server_does(home, environment):
    # The same port twice, whatever else listens on this machine.
    environment.setattr(Ports, "take", lambda self, wanted: wanted)
    environment.delenv("TRAINER_PLANNER_API_KEY", raising=False)
    environment.setenv("TRAINER_PLANNER_BASE_URL", "http://models.example:8000")
    stack = planned(Options(home.root))
    assert "TRAINER_PLANNER_API_KEY" not in settings(stack, "trainer")
    environment.setenv("TRAINER_PLANNER_BASE_URL", f"{stack.urls['mock-llm']}/")
    stack = planned(Options(home.root))
    assert settings(stack, "trainer")["TRAINER_PLANNER_API_KEY"] == stack.api_token


def test_what_the_user_set_wins_over_the_demos_own_choice(home, environment):
    assert settings(planned(Options(home.root)), "trainer")["RAY_WORKERS"] == "1"
    environment.setenv("RAY_WORKERS", "2")
    assert settings(planned(Options(home.root)), "trainer")["RAY_WORKERS"] == "2"
    environment.delenv("RAY_WORKERS")
    environment.setenv("TRAINER_RAY_WORKERS", "3")
    assert "RAY_WORKERS" not in settings(planned(Options(home.root)), "trainer"), "its other name"


def test_the_users_game_is_handed_to_the_services(home, tmp_path):
    assert "ROM_PATH" not in settings(planned(Options(home.root)), "exporter")
    stack = planned(Options(home.root, rom_path=tmp_path / "seasons.gbc"))
    assert settings(stack, "exporter")["ROM_PATH"] == str(tmp_path / "seasons.gbc")
    assert settings(stack, "trainer")["TRAINER_DATA_DIR"] == str(home.root / "trainer")


def test_files_with_secrets_are_read_by_their_owner_only(home, environment):
    environment.setenv("MODELS_STORE", "s3://zelda-models")
    stack, secrets = planned(Options(home.root)), home.secrets()
    passwords = [secrets.nats_password(name) for name in SERVICES]
    tokens = (*passwords, secrets.nats_token, secrets.s3_secret_key, secrets.s3_secret("judge"))
    files = [path for path in home.root.rglob("*") if path.is_file()]
    holding = [path for path in files if any(token in path.read_text() for token in tokens)]
    assert len(holding) >= 2
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in holding)
    commands = [word for spec in (*stack.servers, *stack.services) for word in spec.command]
    assert not [word for word in commands for token in tokens if token in word]


def test_two_demos_that_start_at_the_same_moment_choose_different_ports(tmp_path, environment):
    with Ports() as ours, Ports() as theirs:
        places = [
            spec.where
            for folder, ports in (("mine", ours), ("theirs", theirs))
            for stack in [plan(Options(data_directory(tmp_path / folder).root), ports)]
            for spec in (*stack.servers, *stack.services)
        ]
    assert len(set(places)) == 14


def test_the_port_that_the_user_names_is_the_pages_or_is_refused(home):
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        number = listener.getsockname()[1]
        listener.listen()
        with pytest.raises(PortBusyError, match=rf"port {number}\b.*--hud-port"):
            planned(Options(home.root, hud_port=number))
    assert planned(Options(home.root, hud_port=number)).urls["hud"].endswith(f":{number}")


async def test_a_service_with_too_many_connections_is_no_hung_one(tmp_path):
    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    with Ports() as ports:
        [hud] = [each for each in plan(Options(tmp_path), ports).services if each.name == "hud"]
    assert hud.answers is not None
    async with await asyncio.start_server(refuse, "127.0.0.1", int(hud.where.rpartition(":")[2])):
        assert await hud.answers()
        assert not await hud.ready()
    assert not await hud.answers()
