"""A new reward model waits its turn, then takes over step by step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rlaif.trainer.rewards.learned.reward_models import ModelSchedule, RewardModel


@dataclass(frozen=True)
class Constant:
    """A network that always says the same."""

    value: float

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        return np.full(len(observations), self.value, dtype=np.float32)


def model(version: int, answers: Any = None) -> RewardModel:
    potential: Any = answers or Constant(float(version))
    return RewardModel(version, f"{version:064x}", b"", potential)


def answer(schedule: ModelSchedule) -> float | None:
    mixed = schedule.mixed(lambda network, rows: network(rows))
    return None if mixed is None else float(mixed(np.zeros((1, 2), np.float32))[0])


def iterations(schedule: ModelSchedule, count: int) -> list[float | None]:
    """What the mix says in each of the next iterations."""
    said = []
    for _ in range(count):
        schedule.swap_if_due()
        said.append(answer(schedule))
        schedule.end_iteration()
    return said


def test_the_first_model_does_not_wait_and_ramps_from_nothing():
    schedule = ModelSchedule(ramp_iterations=4, swap_iterations=9)
    assert iterations(schedule, 1) == [None]
    assert schedule.offer(model(8))
    assert schedule.swap_if_due() == model(8)
    assert iterations(schedule, 5) == [2.0, 4.0, 6.0, 8.0, 8.0]


@pytest.mark.parametrize("ramp", [0, 1])
def test_a_ramp_of_none_or_one_swaps_at_once(ramp: int):
    schedule = ModelSchedule(ramp_iterations=ramp, swap_iterations=1)
    schedule.offer(model(3))
    assert iterations(schedule, 1) == [3.0]
    schedule.offer(model(5))
    assert iterations(schedule, 1) == [5.0]


def test_of_several_that_wait_the_newest_counts():
    schedule = ModelSchedule(ramp_iterations=1, swap_iterations=2)
    schedule.offer(model(1))
    schedule.swap_if_due()
    for version in (2, 3, 4):
        schedule.offer(model(version))
    assert iterations(schedule, 3) == [1.0, 1.0, 4.0]


def test_going_back_to_the_live_model_sends_the_waiting_one_away():
    schedule = ModelSchedule(ramp_iterations=1, swap_iterations=5)
    schedule.offer(model(1))
    schedule.swap_if_due()
    schedule.offer(model(2))
    assert not schedule.offer(model(1)), "it counts already: nothing ramps again"
    assert schedule.waiting is None
    assert iterations(schedule, 8) == [1.0] * 8
    assert schedule.age == 8
