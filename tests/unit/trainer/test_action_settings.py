"""Which decisions there are decides how long times are by default, and nothing else does."""

from typing import Any

import pytest

from rlaif.trainer import checks
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import STEP_FRAMES

DECISIONS = ["buttons", "macros", "options"]


def settings_with(**given: Any) -> TrainerSettings:
    return TrainerSettings.model_validate(given)


def test_the_seeds_actions_keep_the_seeds_times():
    own = settings_with(actions="seed")
    assert not own.game.by_decisions
    assert own.game.ends_at_death
    assert own.evaluation_length == 3_000


@pytest.mark.parametrize("actions", DECISIONS)
def test_decisions_continue_after_death_and_have_time_for_the_quest(actions: str):
    own = settings_with(actions=actions)
    assert own.game.by_decisions
    assert not own.game.ends_at_death
    quest = 22_750  # frames of the committed walkthrough
    assert own.evaluation_length * STEP_FRAMES > 2 * quest
    assert own.game.episode_length * STEP_FRAMES > 2 * quest


@pytest.mark.parametrize("actions", ["seed", "macros"])
def test_what_is_set_counts_whatever_the_actions_are(actions: str):
    own = settings_with(actions=actions, death_ends=False, eval_episode_length=7)
    assert not own.game.ends_at_death
    assert own.evaluation_length == 7


def test_evaluations_of_a_pipeline_are_as_long_as_its_episodes():
    own = settings_with(actions="macros", mode="pipeline", episode_length=2700)
    assert own.evaluation_length == 2700


def test_a_run_that_takes_other_actions_takes_their_times():
    """Nothing that was left unset is fixed by the service's own actions."""
    of_service = settings_with(actions="seed")
    own = checks.with_overrides(of_service, {"actions": "macros"})
    assert not own.game.ends_at_death
    assert own.evaluation_length == settings_with(actions="macros").evaluation_length
