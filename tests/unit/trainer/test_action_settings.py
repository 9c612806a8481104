"""Which decisions there are decides how long times are by default, and nothing else does."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from rlaif.game.decisions.catalog import Arm
from rlaif.game.skills.script import FRAMES_OF_A_STEP
from rlaif.trainer import checks
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import STEP_FRAMES, Actions, GameSettings, steps_lasting

DECISIONS = ["buttons", "macros", "options"]


def settings_with(**given: Any) -> TrainerSettings:
    return TrainerSettings.model_validate(given)


def test_the_settings_name_the_games_own_arms_and_steps():
    assert set(get_args(Actions)) == set(get_args(Arm))
    assert STEP_FRAMES == FRAMES_OF_A_STEP


def test_the_seeds_actions_keep_the_seeds_times():
    own = settings_with(actions="seed")
    assert not own.game.by_decisions
    assert own.game.ends_at_death
    assert own.evaluation_length == 3_000
    assert own.steps_between_saves == 16_000


@pytest.mark.parametrize("actions", DECISIONS)
def test_decisions_go_on_after_death_and_have_time_for_the_quest(actions: str):
    own = settings_with(actions=actions)
    assert own.game.by_decisions
    assert not own.game.ends_at_death
    quest = 22_750  # frames of the committed walkthrough
    assert own.evaluation_length * STEP_FRAMES > 2 * quest
    assert own.game.episode_length * STEP_FRAMES > 2 * quest
    assert own.steps_between_saves == 1_000


@pytest.mark.parametrize("actions", ["seed", "macros"])
def test_what_is_set_counts_whatever_the_actions_are(actions: str):
    own = settings_with(actions=actions, death_ends=False, eval_episode_length=7)
    assert not own.game.ends_at_death
    assert own.evaluation_length == 7


def test_a_run_that_takes_other_actions_takes_their_times():
    """Nothing that was left unset is fixed by the service's own actions."""
    of_service = settings_with(actions="seed")
    own = checks.with_overrides(of_service, {"actions": "macros"})
    assert not own.game.ends_at_death
    assert own.evaluation_length == settings_with(actions="macros").evaluation_length


def test_decisions_are_made_of_steps_of_four_frames():
    with pytest.raises(ValidationError, match="TRAINER_FRAME_SKIP at 4"):
        GameSettings(actions="macros", frame_skip=16)
    assert GameSettings(actions="seed", frame_skip=16).frame_skip == 16


def test_the_same_time_is_fewer_steps_where_steps_are_longer():
    assert [steps_lasting(30, skip) for skip in (1, 4, 8, 16, 60)] == [120, 30, 15, 8, 2]
    assert steps_lasting(0, 16) == 0
