"""Demonstrations as a dataset that the real Minari reads."""

from pathlib import Path

import numpy as np
import pytest

from rlaif.trainer.curriculum.minari_dataset import write_dataset
from rlaif.trainer.settings.game import GameSettings

ID = "zelda/seedling-vale-v0"


@pytest.mark.filterwarnings("ignore")
def test_minari_reads_what_was_recorded(
    made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari = pytest.importorskip(
        "minari", reason="Minari is not installed: make setup-dev installs it into .venv"
    )
    monkeypatch.setenv("MINARI_DATASETS_PATH", "to be restored")
    recorded = [made("one", length=20), made("two", length=12)]
    write_dataset(recorded, GameSettings(actions="macros"), ID, tmp_path)
    dataset = minari.load_dataset(ID)
    assert (dataset.total_episodes, dataset.total_steps) == (2, 32)
    for episode, source in zip(dataset.iterate_episodes(), recorded, strict=True):
        assert np.array_equal(episode.actions, source.decisions)
        assert np.array_equal(episode.rewards, source.rewards)
        assert np.array_equal(episode.observations["observation"], source.observations)
        assert np.array_equal(episode.observations["policy_input"], source.policy_inputs)
        assert np.array_equal(episode.infos["frames"][1:], source.frames)
        assert np.array_equal(episode.infos["imitated"][1:], source.imitated)
        assert (episode.truncations.sum(), episode.truncations[-1]) == (1, True)
        assert not episode.terminations.any()
        assert dataset.action_space.contains(episode.actions[0])
