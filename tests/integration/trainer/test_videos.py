"""The best episodes are kept as actions and filmed by replay, after the play."""

import json
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from PIL.WebPImagePlugin import WebPImageFile

from rlaif.game.captures.replay import ReplayMismatchError
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.evaluate import main
from rlaif.trainer.evaluation.replaying import STEP, film, pictures
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.followers.episode_log import BestEpisodes, RecordedEpisode
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder.record import record_path
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

STEPS = 60


@pytest.fixture(scope="module")
def played():
    """The fragment in which two environments play three episodes each, and its return values."""
    config = EnvConfig(
        run_id="r-film",
        game=GameSettings(actions="seed", episode_length=STEPS),
        capture=CaptureSettings(best_episodes=2),
    )
    vector = EmulatorVector(config, count=2, runner=1, seed=3)
    vector.begin_fragment(3 * STEPS, capture_quota=0, context=CaptureContext(env_step=9))
    # The first stands still, the second walks about.
    actions = np.random.default_rng(1).integers(0, 4, 3 * STEPS)
    for t in range(3 * STEPS):
        vector.step(t, np.array([Action.NOP, actions[t - t % 12]]))
    shape = (3 * STEPS, 2)
    fragment = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    return fragment


@pytest.fixture
def shelf(tmp_path: Path, played) -> BestEpisodes:
    shelf = BestEpisodes.of_run(tmp_path / "runs" / "r-film", 2)
    shelf.add(played.best)
    return shelf


def test_the_best_episodes_stay(played, shelf: BestEpisodes):
    found = [episode for _, episode in shelf.best()]
    returns = sorted((each.reward for each in played.episodes), reverse=True)
    assert [each.reward for each in found] == returns[:2]
    assert returns[0] > returns[-1]
    capture = found[0].whole.capture
    frames = 4 * len(capture.actions) + sum(wait for _, wait in capture.waits)
    assert frames >= 4 * STEPS > frames - 4 - max((wait for _, wait in capture.waits), default=0)
    shelf.add(replace(each, reward=-1.0) for each in played.best)
    assert [each.reward for _, each in shelf.best()] != returns[:2], "the file is rewritten"
    assert len(shelf.best()) == 2


def test_an_episode_survives_its_file(played):
    for episode in played.best:
        assert RecordedEpisode.unpack(episode.pack()) == episode
    with pytest.raises(ValueError, match="not a recorded episode"):
        RecordedEpisode.unpack(b'{"reward": 1}\n')


def test_a_film_shows_every_step_for_as_long_as_it_took(tmp_path: Path, played):
    episode = max(played.best, key=lambda each: each.rank)
    path = tmp_path / "best.mp4"
    waits = [wait for _, wait in episode.whole.capture.waits]
    steps = len(episode.whole.capture.actions)
    count = steps + sum(-(-wait // STEP) for wait in waits)
    assert film(episode, load_cartridge(), path, scale=1) == count
    frames = 4 * steps + sum(waits)
    with av.open(str(path)) as container:
        decoded = list(container.decode(video=0))
    assert len(decoded) == count
    assert decoded[0].width == 160
    shown = float(decoded[-1].time - decoded[0].time)
    assert shown == pytest.approx((frames - 4) / 60, abs=0.02)
    first, last = (decoded[n].to_ndarray(format="rgb24").astype(float) for n in (0, -1))
    assert first.std() > 10, "not one colour"
    assert abs(first - last).mean() > 0.5, "something moved"


def test_a_fast_film_leaves_out_what_no_eye_would_see(tmp_path: Path, played):
    episode = max(played.best, key=lambda each: each.rank)
    path = tmp_path / "fast.mp4"
    count = film(episode, load_cartridge(), path, scale=1, speed=8)  # 120 steps per second
    assert STEPS // 2 <= count < STEPS * 0.6


def test_a_picture_that_moves_has_the_pixels_of_the_game_and_goes_round(tmp_path: Path, played):
    episode = max(played.best, key=lambda each: each.rank)
    path = tmp_path / "best.webp"
    count = film(episode, load_cartridge(), path, scale=1)
    screens = [screen.copy() for _, screen in pictures(episode, load_cartridge())]
    with Image.open(path) as found:
        assert isinstance(found, WebPImageFile)
        assert 1 < found.n_frames <= count < STEPS
        assert found.info["loop"] == 0  # for ever
        first = np.asarray(found.convert("RGB"))
        found.seek(found.n_frames - 1)
        last = np.asarray(found.convert("RGB"))
    assert np.array_equal(first, screens[0])
    assert any(np.array_equal(last, screen) for screen in screens[-3:])


def test_a_film_of_other_play_is_not_made(tmp_path: Path, played):
    best = max(played.best, key=lambda each: each.rank)
    capture = best.whole.capture
    other = capture.model_copy(update={"actions": "7" * len(capture.actions)})
    forged = replace(best, whole=replace(best.whole, capture=other))
    with pytest.raises(ReplayMismatchError):
        film(forged, load_cartridge(), tmp_path / "forged.mp4", scale=1)
    assert list(tmp_path.iterdir()) == []


def test_the_command_films_the_best_of_a_run(tmp_path: Path, shelf: BestEpisodes, capsys):
    record_path(tmp_path, "r-film").write_text(json.dumps({"run_id": "r-film"}))
    out = tmp_path / "zelda_videos"
    options = [
        "r-film",
        "--data-dir",
        str(tmp_path),
        "--out",
        str(out),
        "--scale",
        "1",
        "--speed",
        "4",
    ]
    assert main([*options, "--recorded", "1"]) == 0
    (made,) = (out / "r-film").iterdir()
    assert made.name.startswith("1-r-film-")
    assert made.suffix == ".mp4"
    assert "milestones, return" in capsys.readouterr().out
    assert main(["r-other", "--recorded", "1", "--data-dir", str(tmp_path)]) == 2
    assert "no run r-other" in capsys.readouterr().err
