"""A capture says what its segment was paid: by the game as it was, by the model as it counts."""

import numpy as np
import pytest

from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

STEPS, GAMES, GAMMA, WEIGHT = 300, 6, 0.99, 3.0
LENGTH = 20


def phi(observations):
    return np.tanh(observations.sum(axis=1) - 20.0).astype(np.float32)


@pytest.fixture(scope="module")
def fragment():
    config = EnvConfig(
        run_id="t",
        game=GameSettings(actions="seed", episode_length=10 * STEPS),
        capture=CaptureSettings(segment_frames=4 * LENGTH),
    )
    vector = EmulatorVector(config, count=GAMES, runner=1, seed=4)
    vector.pay_by(PayingModel(3, phi, GAMMA, WEIGHT))
    vector.begin_fragment(STEPS, capture_quota=100, context=CaptureContext(reward_model_version=3))
    rng = np.random.default_rng(4)
    actions = rng.integers(0, 4, (STEPS, GAMES))
    for t in range(STEPS):
        vector.step(t, actions[t - t % 12])
    shape = (STEPS, GAMES)
    made = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    assert not made.episodes, "all captures are of the first episodes"
    assert made.captures
    return made


def test_the_games_own_reward_is_what_each_step_was_paid_and_its_parts_sum_to_it(fragment):
    some = 0
    for item in fragment.captures:
        capture = item.capture
        n, first = int(capture.env_id.rsplit("-", 1)[1]), capture.start_step
        paid = np.zeros(LENGTH)
        for step, amount in capture.pay.game:
            paid[step] = amount
        assert paid == pytest.approx(fragment.rewards[first : first + LENGTH, n], abs=1e-6)
        parts = np.zeros(LENGTH)
        for amounts in capture.pay.parts.values():
            for step, amount in amounts:
                parts[step] += amount
        assert parts == pytest.approx(paid, abs=1e-6)
        some += len(capture.pay.game)
    assert some, "the game paid something"


def test_the_models_pay_is_the_learners_for_a_segment_as_an_episodes_beginning(fragment):
    for item in fragment.captures:
        capture, pay = item.capture, item.capture.pay
        n, first = int(capture.env_id.rsplit("-", 1)[1]), capture.start_step
        rows = fragment.transitions.observations[first : first + LENGTH + 1, n : n + 1]
        none = np.zeros((LENGTH, 1), dtype=np.bool_)
        frames = fragment.transitions.frames[first : first + LENGTH, n : n + 1]
        steps = Transitions(rows, none, none, np.zeros((0, 2), np.int64), rows[:0, 0], frames)
        shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
        paid = shaper.shape(0, steps, phi(steps.visited())).rewards
        assert pay.model == pytest.approx(paid[:, 0], abs=2e-6)
        assert pay.potentials == pytest.approx(phi(rows[:, 0]), abs=1e-6)
        assert (pay.reward_model_version, pay.weight, pay.gamma) == (3, WEIGHT, GAMMA)


def test_a_capture_names_the_rooms_that_it_shows(fragment):
    for item in fragment.captures:
        assert item.capture.rooms
        assert item.capture.milestones is not None
