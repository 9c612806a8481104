"""What the search of the study of rewards leaves to its runs."""

import importlib
import sys
from pathlib import Path

import pytest

from rlaif.trainer.settings import TrainerSettings

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
study_search = importlib.import_module("study_search")
STEPS = 75


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    study_search.search(folder, 50_000)
    return folder


def test_half_of_the_episodes_start_at_power_on_and_the_others_where_the_search_was(folder: Path):
    settings = TrainerSettings.model_validate({"initial_state_paths": study_search.starts(folder)})
    (first, weight), *others = settings.game.initial_states
    assert first.name.startswith(study_search.POWER_ON)
    assert weight == len(others) > 0
    assert {each for _, each in others} == {1.0}


def test_an_arrival_is_as_many_steps_that_end_in_the_state_of_its_cell(folder: Path):
    """`arrivals` compares digests of the RAM at the end."""
    found = [(name, list(moments)) for name, moments in study_search.arrivals(folder, STEPS)]
    assert found
    assert {len(moments) for _, moments in found} == {STEPS}
    assert len({name for name, _ in found}) == len(found)
