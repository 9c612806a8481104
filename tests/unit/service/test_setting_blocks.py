"""Settings in nested blocks: from outside, flat names that each mean one value."""

import os
from typing import Annotated, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.dataclasses import dataclass
from pydantic_settings import SettingsConfigDict

from rlaif.service.cli import InvalidSettingsError, load_settings
from rlaif.service.settings import Block, ServiceSettings, describe, flat_values


class ShapingSettings(BaseModel, frozen=True, extra="forbid"):
    weight: float = Field(default=1.0, ge=0, description="Scale.")
    ramp_iterations: int = Field(default=5, description="Ramp.")


@dataclass(frozen=True)
class LearningSettings:
    batch_size: int = Field(default=4096, description="Steps.")
    rates: tuple[float, ...] = Field(default=(0.1,), description="Rates.")


class TrainerSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="TRAINER_")

    reward_shaping: Annotated[
        ShapingSettings, Block(prefix="shaping_", names={"weight": "shaping"})
    ] = ShapingSettings()
    shaping_mode: str = Field(default="potential", description="Mode.")
    ppo: Annotated[LearningSettings, Block(prefix="", unprefixed=frozenset({"batch_size"}))] = (
        LearningSettings()
    )
    two_words: ShapingSettings = ShapingSettings()


@pytest.mark.parametrize(
    ("variable", "text", "path", "value"),
    [
        ("TRAINER_SHAPING", "2", ("reward_shaping", "weight"), 2.0),
        ("TRAINER_SHAPING_RAMP_ITERATIONS", "7", ("reward_shaping", "ramp_iterations"), 7),
        ("BATCH_SIZE", "64", ("ppo", "batch_size"), 64),
        ("TRAINER_BATCH_SIZE", "64", ("ppo", "batch_size"), 64),
        ("TRAINER_RATES", "[1, 2]", ("ppo", "rates"), (1.0, 2.0)),
        ("TRAINER_TWO_WORDS_RAMP_ITERATIONS", "7", ("two_words", "ramp_iterations"), 7),
        ("trainer_two_words_weight", "3", ("two_words", "weight"), 3.0),
    ],
)
def test_a_variable_sets_one_value_and_leaves_the_others_as_they_are(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, path: tuple[str, ...], value: object
) -> None:
    before = {each.path: flat_values(TrainerSettings())[each.name] for each in _SETTINGS}
    monkeypatch.setenv(variable, text)
    after = {each.path: flat_values(TrainerSettings())[each.name] for each in _SETTINGS}
    assert after == before | {path: value}


_SETTINGS = describe(TrainerSettings)


def test_a_block_can_be_given_whole_in_parts_or_by_flat_names() -> None:
    whole = TrainerSettings(two_words=ShapingSettings(weight=2.0))
    assert whole.two_words == ShapingSettings(weight=2.0, ramp_iterations=5)
    assert TrainerSettings.model_validate({"two_words": {"weight": 2}}) == whole
    assert TrainerSettings.model_validate({"two_words_weight": 2}) == whole
    assert TrainerSettings.model_validate_json('{"two_words_weight": 2}') == whole
    assert TrainerSettings.model_validate_json(whole.model_dump_json()) == whole
    assert TrainerSettings.model_validate(flat_values(whole)) == whole


def test_what_is_given_in_python_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_TWO_WORDS_WEIGHT", "3")
    monkeypatch.setenv("TRAINER_TWO_WORDS_RAMP_ITERATIONS", "3")
    settings = load_settings(TrainerSettings, {"two_words_weight": "2"})
    assert settings.two_words == ShapingSettings(weight=2.0, ramp_iterations=3)
    given_whole = TrainerSettings(two_words=ShapingSettings(weight=2.0))
    assert given_whole.two_words == ShapingSettings(weight=2.0, ramp_iterations=5)


def test_a_value_given_by_itself_and_in_its_block_is_refused() -> None:
    with pytest.raises(ValueError, match="two_words_weight is given twice"):
        TrainerSettings.model_validate({"two_words": {"weight": 2}, "two_words_weight": 2})


def test_a_wrong_value_in_a_block_is_named_as_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_SHAPING", "-1")
    monkeypatch.setenv("BATCH_SIZE", "many")
    with pytest.raises(InvalidSettingsError) as caught:
        load_settings(TrainerSettings)
    text = str(caught.value)
    assert "shaping: Input should be greater than or equal to 0" in text
    assert "set --shaping or TRAINER_SHAPING;" in text
    assert "batch_size: Input should be a valid integer" in text
    assert text.endswith("set --batch-size or BATCH_SIZE")


def test_an_unknown_variable_is_ignored_and_an_unknown_name_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRAINER_TWO_WORDS_WIEGHT", "3")
    monkeypatch.setenv("TRAINER_TWO_WORDS", '{"weight": 3}')
    assert TrainerSettings() == TrainerSettings(two_words=ShapingSettings())
    for typo in ({"two_words_wieght": 3}, {"two_words": {"wieght": 3}}):
        with pytest.raises(ValidationError, match="wieght"):
            TrainerSettings.model_validate(typo)


def _service(name: str, fields: dict[str, Any]) -> type[ServiceSettings]:
    config = {"__module__": __name__, "model_config": SettingsConfigDict(env_prefix=f"{name}_")}
    base = type("Base", (ServiceSettings,), config)
    return create_model("Settings", __base__=base, **fields)


def test_of_two_variables_of_one_value_the_one_without_prefix_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRAINER_BATCH_SIZE", "1")
    monkeypatch.setenv("BATCH_SIZE", "2")
    assert TrainerSettings().ppo.batch_size == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"two_words_weight": (float, 1.0), "two_words": (ShapingSettings, ShapingSettings())},
        {
            "port_": (
                Annotated[LearningSettings, Block(names={"rates": "port"})],
                LearningSettings(),
            )
        },
        {"one": (Annotated[ShapingSettings, Block(names={"weight": "one"})], ShapingSettings())},
    ],
)
def test_two_values_of_one_name_are_an_error_where_the_class_is_made(fields: Any) -> None:
    with pytest.raises(TypeError, match="more than one setting is called"):
        _service("X", fields)


def test_a_block_has_no_other_defaults_than_those_of_its_fields() -> None:
    with pytest.raises(TypeError, match="block's defaults"):
        _service("X", {"shaping": (ShapingSettings, ShapingSettings(weight=2.0))})


_NAMES = st.lists(st.sampled_from(["a", "b", "ab", "a_b"]), min_size=1, max_size=3).map("_".join)
_LEAVES = st.sets(_NAMES, min_size=1, max_size=4)


@given(
    prefix=st.sampled_from(["X", "A", "A_B"]),
    flat=st.sets(_NAMES, max_size=4),
    blocks=st.dictionaries(_NAMES, st.tuples(_LEAVES, st.none() | _NAMES), max_size=3),
)
def test_settings_either_can_be_told_apart_or_cannot_be_declared(
    prefix: str, flat: set[str], blocks: dict[str, tuple[set[str], str | None]]
) -> None:
    fields: dict[str, Any] = {name: (str, "") for name in flat - blocks.keys()}
    for name, (leaves, named) in blocks.items():
        leaf: Any = dict.fromkeys(leaves, (str, ""))
        block = create_model("Block", **leaf)
        marker = Block(prefix=None if named is None else f"{named}_")
        fields[name] = (Annotated[block, marker], block())
    try:
        service = _service(prefix, fields)
    except TypeError:
        return
    own = [each for each in describe(service) if each.name not in ServiceSettings.model_fields]
    assert len(own) == len(flat - blocks.keys()) + sum(len(leaves) for leaves, _ in blocks.values())
    for setting in own:
        with patch.dict(os.environ, {setting.environment: "here"}):
            found = {name for name, value in flat_values(service()).items() if value == "here"}
        assert found == {setting.name}
