from types import MappingProxyType

import pytest
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from rlaif.service.cli import InvalidSettingsError, load_settings, masked_json
from rlaif.service.settings import INTERNAL, ServiceSettings, describe


class JudgeSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="REWARD_MODEL_")
    renamed = MappingProxyType({"REWARD_MODEL_BUDGET": "REWARD_MODEL_CALLS_PER_SECOND"})

    port: int = Field(default=8084, ge=0, le=65535, description="TCP port.")
    judges: tuple[str, ...] = Field(default=("state",), description="Judges.")
    calls_per_second: float = Field(default=2.0, gt=0, description="Budget.")
    key: SecretStr = Field(default=SecretStr("built-in"), description="Key.")
    vision: bool = Field(default=True, description="Use pictures.")
    inner: int = Field(default=1, json_schema_extra=INTERNAL)


def test_an_option_wins_over_the_environment_which_wins_over_the_default(monkeypatch):
    assert load_settings(JudgeSettings).nats_url == "nats://127.0.0.1:4222"
    monkeypatch.setenv("NATS_URL", "nats://environment")
    monkeypatch.setenv("REWARD_MODEL_PORT", "1")
    settings = load_settings(JudgeSettings)
    assert (settings.nats_url, settings.port) == ("nats://environment", 1)
    settings = load_settings(JudgeSettings, nats_url="nats://option", port="2")
    assert (settings.nats_url, settings.port) == ("nats://option", 2)


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("REWARD_MODEL_JUGDES", "REWARD_MODEL_JUGDES is not a setting.*REWARD_MODEL_JUDGES"),
        ("REWARD_MODEL_SECRET", "REWARD_MODEL_SECRET is not a setting.*"),
        ("REWARD_MODEL_BUDGET", "renamed: set REWARD_MODEL_CALLS_PER_SECOND"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_name_to_use(monkeypatch, name, reported):
    monkeypatch.setenv(name, "1")
    with pytest.raises(InvalidSettingsError, match=reported):
        load_settings(JudgeSettings)


def test_a_shared_setting_can_be_overridden_for_one_service(monkeypatch):
    monkeypatch.setenv("REWARD_MODEL_LOG_LEVEL", "DEBUG")
    assert load_settings(JudgeSettings).log_level == "debug"
    assert ServiceSettings().log_level == "info"
    monkeypatch.setenv("LOG_LEVEL", "error")
    assert load_settings(JudgeSettings).log_level == "error"


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_variable_is_unset_except_for_texts(monkeypatch, blank):
    defaults = JudgeSettings()
    for setting in describe(JudgeSettings):
        if setting.name not in ("nats_url", "s3_endpoint_url"):
            monkeypatch.setenv(setting.environment, blank)
    monkeypatch.setenv("S3_ENDPOINT_URL", "")
    settings = load_settings(JudgeSettings)
    assert settings.s3_endpoint_url == "", "AWS"
    texts = {each.name for each in describe(JudgeSettings) if each.field.annotation is str}
    assert settings.model_dump(exclude=texts) == defaults.model_dump(exclude=texts)


def test_a_secret_from_a_file_has_no_line_end(monkeypatch):
    monkeypatch.setenv("RLAIF_API_TOKEN", "token \n")
    monkeypatch.setenv("S3_ACCESS_KEY", "key\r\n")
    settings = load_settings(JudgeSettings)
    assert settings.api_token is not None
    assert settings.api_token.get_secret_value() == "token "
    assert settings.s3_access_key == "key"


def test_variables_of_kubernetes_and_of_other_services_are_ignored(monkeypatch):
    defaults = JudgeSettings()
    monkeypatch.setenv("REWARD_MODEL_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("REWARD_MODEL_PORT_8084_TCP_ADDR", "10.0.0.1")
    monkeypatch.setenv("TRAINER_JUGDES", "1")
    monkeypatch.setenv("HOST", "laptop.example")
    assert load_settings(JudgeSettings) == defaults


def test_an_internal_field_is_set_in_python_alone() -> None:
    assert JudgeSettings(inner=3).inner == 3
    assert "inner" not in masked_json(JudgeSettings())
    assert "inner" not in {each.name for each in describe(JudgeSettings)}


def test_every_field_is_described_and_the_service_is_named_by_its_prefix() -> None:
    assert JudgeSettings.service_name() == "reward-model"
    rows = {row.name: row for row in describe(JudgeSettings)}
    assert rows["port"].environment == "REWARD_MODEL_PORT"
    assert rows["calls_per_second"].option == "--calls-per-second"
    assert rows["nats_url"].environment == "NATS_URL"
    assert rows["nats_url"].shared
    assert not rows["port"].shared
    assert rows["judges"].default_text == '["state"]'
    assert rows["key"].default_text == "hidden"
    assert rows["api_token"].default_text == "unset"


def test_wrong_values_are_all_named_with_the_way_to_set_them(monkeypatch):
    monkeypatch.setenv("LOG_LEVEL", "loud")
    with pytest.raises(InvalidSettingsError) as caught:
        load_settings(JudgeSettings, port="none", calls_per_second="0")
    text = str(caught.value)
    assert "port: Input should be a valid integer" in text
    assert "set --port or REWARD_MODEL_PORT" in text
    assert "calls_per_second: Input should be greater than 0" in text
    assert "log_level: Input should be 'debug', 'info', 'warning' or 'error'" in text
    assert "set --log-level or LOG_LEVEL" in text
    monkeypatch.setenv("LOG_LEVEL", "info")
    monkeypatch.setenv("REWARD_MODEL_JUDGES", '["a", "b"]')
    assert load_settings(JudgeSettings).judges == ("a", "b")
    monkeypatch.setenv("REWARD_MODEL_JUDGES", "a,b")
    with pytest.raises(InvalidSettingsError, match=r"judges: REWARD_MODEL_JUDGES is not JSON"):
        load_settings(JudgeSettings)
