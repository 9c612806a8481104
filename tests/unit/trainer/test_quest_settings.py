"""Mode quest: what it changes of other defaults, and what of it is set apart from that."""

import pytest

from rlaif.trainer.checks import WrongSettingsError, check
from rlaif.trainer.settings import TrainerSettings


def test_a_quest_with_the_buttons_of_the_seeds_is_refused_before_it_starts():
    settings = TrainerSettings.model_validate({"mode": "quest", "actions": "seed"})
    with pytest.raises(WrongSettingsError, match=r"TRAINER_MODE is quest.*TRAINER_ACTIONS to mac"):
        check(settings)
