"""The names under which settings are given: whoever has set one must find it again."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from rlaif.service.settings import EnvironmentSource, Setting, SharedSettings, describe
from rlaif.testing.settings_classes import EVERY

SETTINGS = [(service, each) for service in EVERY for each in describe(service)]

KNOWN = Path(__file__).with_name("setting_names.txt")
"""One line a setting: service, variables, option. Lines are added, and never taken away."""


def test_no_variable_and_no_option_of_a_setting_is_gone() -> None:
    known = KNOWN.read_text(encoding="utf-8").splitlines()
    now = {
        f"{service.service_name()} {'|'.join(each.variables)} {each.option}"
        for service, each in SETTINGS
    }
    assert now == set(known)
    assert known == sorted(set(known))


@pytest.mark.parametrize(
    ("service", "setting", "variable"),
    [
        pytest.param(service, each, variable, id=f"{service.service_name()}-{variable}")
        for service, each in SETTINGS
        for variable in each.variables
    ],
)
def test_a_variable_sets_exactly_one_value(
    service: type[SharedSettings], setting: Setting, variable: str
) -> None:
    with patch.dict(os.environ, {variable: "[]"}, clear=True):
        (found,) = _paths(EnvironmentSource(service)())
    assert found in (setting.path, (setting.field.validation_alias,))


def _paths(values: object) -> list[tuple[str, ...]]:
    if not isinstance(values, dict):
        return [()]
    return [(name, *rest) for name, value in values.items() for rest in _paths(value)]


def test_every_setting_says_what_it_does() -> None:
    silent = [each.name for _, each in SETTINGS if not each.description.endswith(".")]
    assert silent == []
