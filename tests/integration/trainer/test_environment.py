"""The environment on the built-in cartridge: Gymnasium's rules, seeds, captures."""

import io
import warnings
from collections import Counter
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from PIL import Image

from rlaif.contracts.game.observation import slot_index
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import read_blocks
from rlaif.testing.data.captures import replay_all
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.play.zelda_env import ENV_ID, ZeldaOracleEnv, register
from rlaif.trainer.run_folder.live_files import ScreenFile
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

GAME = GameSettings(actions="seed", episode_length=200)
CONFIG = EnvConfig(run_id="t", game=GAME, capture=CaptureSettings(keyframe_steps=60))


def play(vector: EmulatorVector, steps: int, quota: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    vector.begin_fragment(steps, capture_quota=quota, context=CaptureContext(env_step=5))
    # Each action is kept for some steps, or the player would stay in his first room.
    actions = rng.integers(0, 8, (steps, vector.count))
    for t in range(steps):
        vector.step(t, actions[t - t % 12] % 5 if t % 24 < 20 else actions[t])
    shape = (steps, vector.count)
    return vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))


def test_it_passes_gymnasiums_own_check():
    env = ZeldaOracleEnv({"env": CONFIG})
    with warnings.catch_warnings():
        # It recommends a registered id and several render modes; both are matters of taste.
        warnings.simplefilter("ignore", UserWarning)
        check_env(env, skip_render_check=True)
    env.close()


def test_it_is_registered_with_a_version():
    register()
    env = gym.make(ENV_ID)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    env.close()


def test_the_same_seed_plays_the_same_game():
    def rollout(seed: int) -> str:
        game = GameEnv(GAME, np.random.default_rng(seed))
        row = np.zeros(128, dtype=np.float32)
        game.reset(row)
        for action in np.random.default_rng(0).integers(0, 8, 120):
            game.step(int(action), row)
        digest = game.emulator.ram_digest()
        game.close()
        return digest

    assert rollout(3) == rollout(3)
    assert rollout(3) != rollout(4)


@pytest.mark.parametrize(("preset", "moves"), [("default", 0xF0), ("seed", 0xFF)])
def test_facts_are_exact_and_square_facts_leave_out_moves_that_no_reward_asks_for(preset, moves):
    settings = GAME.model_copy(update={"reward_preset": preset, "death_ends": False})
    game = GameEnv(settings, np.random.default_rng(3))
    row = np.zeros(128, dtype=np.float32)
    game.reset(row)
    kept = 0
    for action in np.repeat(np.random.default_rng(1).integers(0, 4, 40), 10):
        before = game.square_facts
        game.step(int(action), row)
        ram = read_blocks(game.emulator)
        assert game.ram == ram
        facts, here = game.facts, game.square_facts
        assert facts == read_facts(ram)
        assert here == facts._replace(x=here.x, y=here.y)
        assert not (here.x ^ facts.x | here.y ^ facts.y) & moves
        kept += here is before and here is not facts
    game.close()
    assert kept > 0 if moves == 0xF0 else kept == 0


def test_every_seed_starts_another_game():
    """Also without idle steps: the game draws no random numbers while nothing moves."""
    game = GameEnv(GAME.model_copy(update={"noop_start": 0}), np.random.default_rng(0))
    row = np.zeros(128, dtype=np.float32)
    digests = set()
    for seed in range(20):
        game.source.rng = np.random.default_rng(seed)
        game.reset(row)
        # The frame count alone is no difference between games: compare place and direction.
        digests.add(game.emulator.read(0xD008, 0xD00E))
    game.close()
    assert len(digests) >= 15


def leave_the_room(**changes):
    """Walk here and there until control is lost; returns the outcomes and the last row."""
    game = GameEnv(
        GAME.model_copy(update={"noop_start": 0, "walk_start": 0, **changes}),
        np.random.default_rng(0),
    )
    row = np.zeros(128, dtype=np.float32)
    game.reset(row)
    rng, outcomes = np.random.default_rng(5), []
    for _ in range(400):
        action = int(rng.integers(0, 4))
        for _ in range(12):
            outcomes.append(game.step(action, row))
            if outcomes[-1].wait or not row[slot_index("has_control")]:
                game.close()
                return outcomes, row
    raise AssertionError("the player never left his room")


def test_a_step_that_loses_control_continues_until_the_player_has_it_again():
    outcomes, row = leave_the_room()
    assert row[slot_index("has_control")] == 1
    assert 0 < outcomes[-1].wait <= GAME.longest_wait_frames
    assert all(outcome.wait == 0 for outcome in outcomes[:-1])


def test_waiting_can_be_switched_off():
    outcomes, row = leave_the_room(longest_wait_frames=0)
    assert row[slot_index("has_control")] == 0
    assert outcomes[-1].wait == 0


def test_episodes_start_at_the_states_that_are_given(tmp_path):
    row = np.zeros(128, dtype=np.float32)
    game = GameEnv(GAME, np.random.default_rng(0))
    game.reset(row)
    (tmp_path / "first.state").write_bytes(game.emulator.save_state())
    for action in [Action.DOWN] * 20:
        game.step(action, row)
    (tmp_path / "second.state").write_bytes(game.emulator.save_state())
    game.close()
    config = EnvConfig(
        run_id="t",
        game=GameSettings(
            actions="seed",
            episode_length=40,
            initial_state_paths=f"{tmp_path / 'first.state'}, {tmp_path / 'second.state'}=3",
        ),
        capture=CaptureSettings(segment_frames=80),
    )
    vector = EmulatorVector(config, count=2, runner=1, seed=4)
    fragment = play(vector, 600, 100)
    vector.close()
    starts = [episode.start for episode in fragment.episodes]
    assert starts.count("second.state") > starts.count("first.state") > 0
    replay_all(fragment.captures[:12])


def test_another_source_of_starts_can_be_plugged_in():
    class Archive:
        asked = 0

        def choose(self, rng):
            self.asked += 1
            return start

    game = GameEnv(GAME, np.random.default_rng(0))
    row = np.zeros(128, dtype=np.float32)
    game.reset(row)
    start = Start.of(game.emulator.save_state(), "cell-7")
    game.close()
    archive = Archive()
    vector = EmulatorVector(CONFIG, count=2, runner=1, seed=1, starts=archive)
    fragment = play(vector, 250, 0)
    vector.close()
    assert archive.asked == 4
    assert {episode.start for episode in fragment.episodes} == {"cell-7"}


def test_a_game_that_does_not_continue_is_cut_with_the_reason():
    """The screen is switched off for good; a cut is no end of the game, so it bootstraps."""
    vector = EmulatorVector(CONFIG, count=1, runner=1, seed=1)
    memory = vector.games[0].emulator._pyboy.memory
    vector.begin_fragment(100, capture_quota=0, context=CaptureContext())
    for t in range(100):
        memory[0xFF40] = 0
        vector.step(t, np.array([7]))
    shape = (100, 1)
    fragment = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    assert [episode.fault for episode in fragment.episodes] == ["screen_off"]
    assert fragment.faults == {"screen_off": 1}
    assert fragment.transitions.truncated.sum() == 1
    assert fragment.transitions.terminated.sum() == 0


def test_an_episode_that_reaches_its_limit_is_truncated_with_its_last_observation():
    vector = EmulatorVector(CONFIG, count=1, runner=1, seed=1)
    fragment = play(vector, 450, 0)
    vector.close()
    ends = [int(t) for t, _ in fragment.transitions.final_index]
    assert ends == [199, 399]
    assert fragment.transitions.truncated.sum() == 2
    after_reset = fragment.transitions.observations[200, 0]
    assert not np.array_equal(fragment.transitions.final_observations[0], after_reset)


def test_every_capture_replays_to_the_same_ram():
    vector = EmulatorVector(CONFIG, count=3, runner=1, seed=2)
    captured = [item for _ in range(5) for item in play(vector, 220, 100).captures]
    vector.close()
    assert set(replay_all(captured)) == {CONFIG.segment_steps}
    # Long enough for second keyframes inside episodes, with segments of several episodes.
    assert len(captured) > 12
    assert len({item.capture.keyframe_sha256 for item in captured}) > 1
    assert len({item.capture.episode_id for item in captured}) > 3
    assert any(item.capture.waits for item in captured)


def test_the_quota_bounds_the_captures():
    vector = EmulatorVector(CONFIG, count=4, runner=1, seed=3)
    total = sum(len(play(vector, 200, 2).captures) for _ in range(4))
    vector.close()
    assert 0 < total <= 8


def test_the_watched_picture_comes_with_what_its_own_state_is_worth(tmp_path):
    path = tmp_path
    config = replace(CONFIG, screens=path, game=GameSettings(actions="seed", watch_fps=60))
    vector = EmulatorVector(config, count=2, runner=1, seed=6)
    slot = ScreenFile(path / "1.rgb")
    x = slot_index("player_x")

    def to_the_right(rows: np.ndarray) -> np.ndarray:
        return rows[:, x]

    vector.pay_by(PayingModel(3, to_the_right, gamma=1.0, weight=2.0))
    steps = 600
    vector.begin_fragment(steps, capture_quota=0, context=CaptureContext(env_step=0))
    started, newest, seen = float(vector.observations[0, x]), 0, 0
    for t in range(steps):
        vector.step(t, np.full(2, Action.RIGHT if t % 20 < 10 else Action.LEFT))
        picture = slot.read(newer_than=newest)
        if picture is None:
            continue  # more than 60 steps per second
        newest, seen = picture.sequence, seen + 1
        opinion = picture.opinion
        assert opinion is not None
        assert opinion.rises is not None
        assert opinion.version == 3
        stands = float(vector.observations[0, x])
        assert opinion.potential == pytest.approx(stands)
        assert sum(opinion.rises) == pytest.approx(stands - started, abs=1e-4)
        if seen == 5:
            break
    vector.close()
    assert seen == 5


def test_segments_are_also_chosen_for_what_they_showed_and_replay_from_afar():
    """Seen at their end, so their keyframe may be older than that of the others."""
    config = EnvConfig(
        run_id="t",
        game=GameSettings(actions="seed", episode_length=600),
        capture=CaptureSettings(keyframe_steps=20, uniform_share=0.2),
    )
    vector = EmulatorVector(config, count=3, runner=1, seed=2)
    # The networks disagree in the lower half of a room.
    vector.ask_about(lambda rows: float(rows[:, slot_index("player_y")].mean()))
    captured = [item for _ in range(8) for item in play(vector, 200, 4).captures]
    vector.close()
    replay_all(captured)
    why = Counter(item.capture.selected_by for item in captured)
    assert why["new room"] > 0
    assert why["disagreement"] > 0
    assert why["uniform"] > 0
    entered = [item.capture for item in captured if item.capture.selected_by == "new room"]
    assert all(capture.waits for capture in entered), "the room scrolled in the segment"


def test_the_rooms_of_the_game_are_reported_with_their_names_and_pictures(tmp_path):
    config = replace(CONFIG, screens=tmp_path, game=GameSettings(actions="seed", watch_fps=1))
    vector = EmulatorVector(config, count=2, runner=1, seed=6)
    fragment = play(vector, 300, 0)
    vector.close()
    rooms = fragment.rooms
    assert rooms is not None
    place = rooms.places[0, 0x77]
    assert (place.name, place.dungeon, place.width, place.height) == ("Seedling", None, 160, 128)
    assert set(rooms.pictures) <= set(rooms.tallies)
    with Image.open(io.BytesIO(rooms.pictures[0, 0x77].png)) as picture:
        assert picture.size == (160, 128)
        assert len(picture.convert("RGB").getcolors(maxcolors=4096) or ()) > 3, "it is not blank"
    # Every frame was played in some room, but for those between two.
    played = fragment.actions.size * CONFIG.game.frame_skip
    assert 0.9 * played < sum(tally.frames for tally in rooms.tallies.values())
