"""Settings in blocks: nested for the program, flat where they are stored."""

import pytest
from pydantic import BaseModel, Field, ValidationError
from pydantic_settings import SettingsConfigDict

from rlaif.service.cli import InvalidSettingsError, load_settings
from rlaif.service.settings import ServiceSettings, flat_values, stored


class ShapingSettings(BaseModel, frozen=True, extra="forbid"):
    weight: float = Field(default=1.0, ge=0, description="Scale.")
    ramp_iterations: int = Field(default=5, description="Ramp.")


class TrainerSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="TRAINER_")
    renamed = {"TRAINER_RAMP": "TRAINER_SHAPING_RAMP_ITERATIONS"}  # noqa: RUF012  # a test

    batch_size: int = Field(default=4096, validation_alias="BATCH_SIZE", description="Steps.")
    shaping: ShapingSettings = ShapingSettings()


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("TRAINER_SHAPING_RAMP_ITERATIONS", "7", "shaping_ramp_iterations", 7),
        ("BATCH_SIZE", "64", "batch_size", 64),
        ("trainer_shaping_weight", "3", "shaping_weight", 3.0),
    ],
)
def test_a_variable_sets_one_value_and_leaves_the_others_as_they_are(
    monkeypatch, variable, text, name, value
):
    before = flat_values(TrainerSettings())
    monkeypatch.setenv(variable, text)
    assert flat_values(TrainerSettings()) == before | {name: value}


def test_a_block_can_be_given_whole_in_parts_or_by_flat_names() -> None:
    whole = TrainerSettings(shaping=ShapingSettings(weight=2.0))
    assert whole.shaping == ShapingSettings(weight=2.0, ramp_iterations=5)
    assert TrainerSettings.model_validate({"shaping": {"weight": 2}}) == whole
    assert TrainerSettings.model_validate({"shaping_weight": 2}) == whole
    assert TrainerSettings.model_validate_json('{"shaping_weight": 2}') == whole
    assert TrainerSettings.model_validate_json(whole.model_dump_json()) == whole
    assert TrainerSettings.model_validate(flat_values(whole)) == whole
    for typo in ({"shaping_wieght": 3}, {"shaping": {"wieght": 3}}):
        with pytest.raises(ValidationError, match="wieght"):
            TrainerSettings.model_validate(typo)


def test_a_wrong_value_in_a_block_is_named_as_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_SHAPING_WEIGHT", "-1")
    monkeypatch.setenv("BATCH_SIZE", "many")
    with pytest.raises(InvalidSettingsError) as caught:
        load_settings(TrainerSettings)
    text = str(caught.value)
    assert "shaping_weight: Input should be greater than or equal to 0" in text
    assert "set --shaping.weight or TRAINER_SHAPING_WEIGHT" in text
    assert "batch_size: Input should be a valid integer" in text
    assert "set --batch-size or BATCH_SIZE" in text


def test_names_of_earlier_releases_are_read_from_stored_settings_alone(monkeypatch):
    old = {"ramp": 7, "batch_size": 3, "no_more": 1}
    assert stored(TrainerSettings, old) == {"shaping_ramp_iterations": 7, "batch_size": 3}
    monkeypatch.setenv("TRAINER_RAMP", "7")
    with pytest.raises(InvalidSettingsError, match="set TRAINER_SHAPING_RAMP_ITERATIONS"):
        load_settings(TrainerSettings)
