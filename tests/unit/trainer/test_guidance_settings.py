"""The numbers of guidance: ours beside what the game pays, and those of the preset `seed`."""

import pytest
from pydantic import ValidationError

from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.planner import GuidanceSettings


def test_by_default_a_whole_episode_pays_less_than_any_milestone():
    """And less than a death costs: dying for another allowance does not pay either."""
    most = GuidanceSettings().most_an_episode
    assert most is not None
    for weights in (preset("default"), preset("seed")):
        assert most < min(weights.item, weights.event, weights.essence, -weights.death)
    assert most < preset("default").key


def test_by_default_one_suggestion_earns_no_more_than_a_new_square():
    settings, weights = GuidanceSettings(), preset("default")
    assert settings.text_bonus < settings.vision_bonus <= weights.novelty
    assert settings.vision_bonus < weights.room, "waiting for one is not worth a new room"


def test_the_seeds_preset_has_the_seeds_numbers_and_no_limit():
    seed = TrainerSettings.model_validate({"guidance_preset": "seed"}).guidance
    assert (seed.text_chance, seed.vision_chance) == (0.02, 0.03)
    assert (seed.text_bonus, seed.vision_bonus) == (5.0, 50.0)
    assert (seed.decisions, seed.expiry_steps, seed.reach_tiles) == (None, None, None)
    assert (seed.most_an_episode, seed.most_waiting, seed.rest_steps) == (None, None, 0)


def test_a_number_that_is_set_wins_over_its_preset(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRAINER_GUIDANCE_PRESET", "seed")
    monkeypatch.setenv("TRAINER_GUIDANCE_TEXT_BONUS", "30")
    guidance = TrainerSettings().guidance
    assert (guidance.text_bonus, guidance.vision_bonus) == (30.0, 50.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"text_chance": 0.6, "vision_chance": 0.5}, {"preset": "generous"}, {"decisions": 0},
        {"most_an_episode": 0}, {"text_bonus": -1},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        GuidanceSettings.model_validate(wrong)
