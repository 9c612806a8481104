"""Which objects the exporter may delete, and after how many days."""

import pytest

from rlaif.exporter.settings import ExporterSettings
from rlaif.service.cli import InvalidSettingsError, load_settings


@pytest.mark.parametrize(
    ("given", "days"),
    [
        ("7", {"segments": 7}),
        ('{"segments": 1.5}', {"segments": 1.5}),
        ('{"segments": 7, "captures": 31}', {"segments": 7, "captures": 31}),
        (
            '{"scores": 90, "captures": 31, "segments": 7}',
            {"segments": 7, "captures": 31, "scores": 90},
        ),
    ],
)
def test_days_of_one_kind_or_of_several(monkeypatch, given, days):
    monkeypatch.setenv("EXPORTER_KEEP_DAYS", given)
    assert load_settings(ExporterSettings).days == days


def test_nothing_is_deleted_by_default():
    assert ExporterSettings().days == {}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("0.5", id="too few days"),
        pytest.param("inf", id="no date"),
        pytest.param("{}", id="nothing"),
        pytest.param('{"captures": 31}', id="captures whose segments stay"),
        pytest.param('{"segments": 7, "scores": 31}', id="scores whose captures stay"),
        pytest.param('{"segments": 7, "captures": 30}', id="captures that stored events name"),
        pytest.param('{"segments": 7, "films": 31}', id="unknown kind"),
    ],
)
def test_what_would_delete_needed_objects_is_refused(monkeypatch, given):
    monkeypatch.setenv("EXPORTER_KEEP_DAYS", given)
    with pytest.raises(InvalidSettingsError, match="EXPORTER_KEEP_DAYS"):
        load_settings(ExporterSettings)
