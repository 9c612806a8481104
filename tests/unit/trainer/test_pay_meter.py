"""What the page shows of the watched game is what the learner's own shaping pays for its steps."""

import numpy as np
import pytest

from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.play.followers.pay_meter import PayMeter
from rlaif.trainer.run_folder.live_files import BIN_SECONDS, BINS

GAMMA, WEIGHT, WIDTH = 0.999, 10.0, 4


class Clock:
    """A clock that stands still until it is set."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def phi(observations: np.ndarray) -> np.ndarray:
    return np.tanh(observations.sum(axis=1) - 1.5).astype(np.float32)


def model(version: int = 3, *, weight: float = WEIGHT, potential=phi) -> PayingModel:
    return PayingModel(version, potential, GAMMA, weight)


def test_the_potential_is_of_the_state_that_the_last_step_reached_also_when_it_ended_the_episode():
    meter = PayMeter(0, Clock())
    meter.pay_by(model())
    start, goal = np.zeros(WIDTH, np.float32), np.full(WIDTH, 0.9, np.float32)
    meter.begin_episode(start)
    meter.after_step(goal, terminated=False, truncated=True)
    opinion = meter.read()
    assert opinion is not None
    assert opinion.potential == pytest.approx(float(phi(goal[None])[0]))
    meter.begin_episode(start)
    after = meter.read()
    assert after is not None
    assert after.potential == pytest.approx(float(phi(start[None])[0]))
    assert after.rises is not None
    rise = float(phi(goal[None])[0] - phi(start[None])[0])
    assert sum(after.rises) == pytest.approx(rise, abs=1e-4)


def test_pay_grows_old_and_is_forgotten():
    clock = Clock()
    meter = PayMeter(0, clock)
    meter.pay_by(model())
    meter.begin_episode(np.zeros(WIDTH, np.float32))
    meter.after_step(np.ones(WIDTH, np.float32), terminated=False, truncated=False)
    seen = []
    for seconds in (0.0, 2.0 + BIN_SECONDS / 2, BINS * BIN_SECONDS + 1.0):
        clock.seconds = seconds
        opinion = meter.read()
        assert opinion is not None
        assert opinion.rises is not None
        seen.append(opinion.rises)
    amount = sum(seen[0])
    assert amount > 1.0
    none = [0.0] * BINS
    assert seen == [(*none[1:], amount), (*none[5:], amount, *none[:4]), tuple(none)]


def test_without_a_model_nothing_is_known_and_nothing_piles_up():
    meter = PayMeter(0, Clock())
    meter.begin_episode(np.zeros(WIDTH, np.float32))
    for _ in range(2_000):
        meter.after_step(np.ones(WIDTH, np.float32), terminated=False, truncated=False)
    assert len(meter._steps) < 300
    assert meter.read() is None


def test_a_model_that_answers_nonsense_leaves_the_next_one_able_to_pay():
    meter = PayMeter(0, Clock())
    meter.pay_by(model(potential=lambda rows: np.full(len(rows), np.nan, np.float32)))
    meter.begin_episode(np.zeros(WIDTH, np.float32))
    meter.after_step(np.ones(WIDTH, np.float32), terminated=False, truncated=False)
    wrong = meter.read()
    assert wrong is not None
    assert wrong.potential is None
    assert sum(wrong.rises or ()) == 0.0
    meter.pay_by(model(version=4))
    meter.after_step(np.zeros(WIDTH, np.float32), terminated=False, truncated=False)
    right = meter.read()
    assert right is not None
    assert sum(right.rises or ()) < -0.1
