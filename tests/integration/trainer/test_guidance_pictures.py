"""The picture of a question, drawn by the real emulator on the built-in cartridge."""

import io
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PIL import Image

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Suggestion
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.play.assist.guidance import Guidance, guidance_stream, question_picture
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.settings.game import GameSettings
from rlaif.trainer.settings.planner import GuidanceSettings

STEPS = 240


@pytest.fixture
def new_game() -> Iterator[Callable[[], GameEnv]]:
    """Makes games that all play the same."""
    games = []

    def make() -> GameEnv:
        game = GameEnv(
            GameSettings(actions="seed", episode_length=10_000), np.random.default_rng(5)
        )
        game.reset(np.zeros(128, dtype=np.float32))
        games.append(game)
        return game

    yield make
    for game in games:
        game.close()


def actions() -> list[int]:
    """Each button is held for some steps, or the player would go nowhere."""
    drawn = np.random.default_rng(1).integers(0, 6, STEPS)
    return [int(drawn[step - step % 10]) for step in range(STEPS)]


def test_it_is_the_screen_of_that_very_step_twice_as_large(new_game: Callable[[], GameEnv]):
    """A twin that draws every step shows what the guided game drew for its questions alone."""
    guided, twin = new_game(), new_game()
    planner = ScriptedPlanner(lambda question: Suggestion(reason="", button="A"), at_once=True)
    guidance = Guidance(
        GuidanceSettings(text_chance=0.1, vision_chance=0.1, rest_steps=0),
        count=1,
        rng=guidance_stream([2, 0, 0]),
        planner=planner,
    )
    row = np.zeros(128, dtype=np.float32)
    screens, drawn = {}, 0
    for action in actions():
        guidance.choose(0, action, guided.facts, guided.steps)
        guidance.draw()
        looks = guidance.drawn.get(0) == "vision"
        drawn += looks
        guided.step(action, row, render=looks)
        twin.step(action, row, render=True)
        screens[guided.steps] = twin.emulator.screen().copy()
        guidance.ask(0, guided.facts, guided.steps, Briefing, guided.emulator.screen)
        for reply in planner.replies():
            guidance.hear(reply)
    assert guided.emulator.ram_digest() == twin.emulator.ram_digest(), "drawing changes no game"
    seen = [question for question in planner.asked if question.picture is not None]
    assert 5 < len(seen) <= drawn < STEPS / 4, "a step is drawn for a question alone"
    assert {question.mode for question in planner.asked} == {"dialog", "vision"}
    assert len({question.picture for question in seen}) > 3
    for question in seen:
        assert question.picture == question_picture(screens[question.asked_step])


def test_it_has_the_seeds_size_and_quality(new_game: Callable[[], GameEnv]):
    game = new_game()
    row = np.zeros(128, dtype=np.float32)
    for action in actions():
        game.step(action, row, render=True)
    screen = game.emulator.screen()
    data = question_picture(screen)
    picture = Image.open(io.BytesIO(data))
    assert (picture.format, picture.size, picture.mode) == ("JPEG", (320, 288), "RGB")
    reference = io.BytesIO()
    Image.new("RGB", (8, 8)).save(reference, format="JPEG", quality=75)
    assert picture.quantization == Image.open(reference).quantization  # type: ignore[attr-defined]  # a JpegImageFile has it
    larger = screen.repeat(2, axis=0).repeat(2, axis=1).astype(np.int16)
    seen = np.asarray(picture).astype(np.int16)
    assert np.abs(seen - larger).mean() < 10
    assert np.abs(seen - larger[:, ::-1]).mean() > 25, "there is something to see"
    assert len(data) < 40_000
