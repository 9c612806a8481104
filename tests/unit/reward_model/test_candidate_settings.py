"""The digest by which a model of equal labels is known to be made by the same settings."""

from dataclasses import replace

import pytest

from rlaif.reward_model.learning.settings import (
    CandidateSettings,
    FitSettings,
    GateSettings,
    settings_digest,
)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"scale": 2.0},
        {"fit": FitSettings(members=3)},
        {"gate": GateSettings(min_labels=30)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_other_setting_gives_another_digest(change):
    assert settings_digest(replace(CandidateSettings(), **change)) != settings_digest(
        CandidateSettings()
    )


def test_the_digest_of_the_defaults_is_the_one_in_manifests_of_today():
    """When a setting is added or a default changes, every champion counts as made by others."""
    assert settings_digest(CandidateSettings()) == (
        "ded57fa724f0becd2806d5426f0e5c3b4067ecdf745bf00d76c9e6c174963887"
    )
