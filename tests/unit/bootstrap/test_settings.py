"""Environment variables of the bootstrap, which are all strings."""

import pytest

from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.service.cli import InvalidSettingsError, load_settings


@pytest.mark.parametrize("copies", [1, 3, 5])
def test_the_copies_of_streams_are_read_from_the_environment(copies, monkeypatch):
    monkeypatch.setenv("NATS_STREAM_REPLICAS", str(copies))
    assert load_settings(BootstrapSettings).nats_stream_replicas == copies


@pytest.mark.parametrize("copies", ["0", "2", "7", "three"])
def test_a_number_of_copies_that_no_majority_gains_from_is_refused(copies, monkeypatch):
    monkeypatch.setenv("NATS_STREAM_REPLICAS", copies)
    with pytest.raises(InvalidSettingsError, match="nats_stream_replicas"):
        load_settings(BootstrapSettings)
