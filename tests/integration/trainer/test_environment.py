"""The environment on the built-in cartridge: Gymnasium's rules, seeds, captures."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlaif.game.cartridges import load_cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.replay import replay
from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.game_env import GameEnv
from rlaif.trainer.env.recorder import CaptureContext
from rlaif.trainer.env.vector import EmulatorVector
from rlaif.trainer.env.zelda_env import ENV_ID, ZeldaOracleEnv, register

CONFIG = EnvConfig(run_id="t", episode_length=200, keyframe_steps=60)


def play(vector: EmulatorVector, steps: int, quota: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    vector.begin_fragment(steps, capture_quota=quota, context=CaptureContext(env_step=5))
    for t in range(steps):
        vector.step(t, rng.integers(0, 8, vector.count))
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
        game = GameEnv(CONFIG, np.random.default_rng(seed))
        row = np.zeros(128, dtype=np.float32)
        game.reset(row)
        for action in np.random.default_rng(0).integers(0, 8, 120):
            game.step(int(action), row)
        digest = game.emulator.ram_digest()
        game.close()
        return digest

    assert rollout(3) == rollout(3)
    assert rollout(3) != rollout(4)


def test_the_parts_of_the_reward_sum_to_it():
    vector = EmulatorVector(CONFIG, count=2, runner=1, seed=1)
    fragment = play(vector, 150, 0)
    vector.close()
    assert sum(fragment.reward_parts.values()) == pytest.approx(float(fragment.rewards.sum()))


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
    captured = [item for _ in range(3) for item in play(vector, 220, 100).captures]
    vector.close()
    cartridge = load_cartridge()
    emulator = PyBoyEmulator(cartridge.data)
    for item in captured:
        steps = list(replay(emulator, item.capture, item.keyframe, rom_sha256=cartridge.sha256))
        assert len(steps) == CONFIG.segment_steps
    emulator.close()
    # Long enough for second keyframes inside episodes, with segments of several episodes.
    assert len(captured) > 12
    assert len({item.capture.keyframe_sha256 for item in captured}) > 1
    assert len({item.capture.episode_id for item in captured}) > 3


def test_the_quota_bounds_the_captures():
    vector = EmulatorVector(CONFIG, count=4, runner=1, seed=3)
    total = sum(len(play(vector, 200, 2).captures) for _ in range(4))
    vector.close()
    assert 0 < total <= 8
