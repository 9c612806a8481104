import pytest

from rlaif.exporter.app import create_app
from rlaif.exporter.settings import ExporterSettings
from rlaif.service.cli import StartupError


def test_a_rom_that_is_missing_stops_the_start_with_its_setting(tmp_path):
    settings = ExporterSettings(rom_path=tmp_path / "none.gbc")
    with pytest.raises(StartupError, match=r"no ROM at .*\(ROM_PATH\)"):
        create_app(settings)
