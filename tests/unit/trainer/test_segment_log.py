"""Rewards of a segment at the end of an episode and after a death."""

from dataclasses import replace

import numpy as np
import pytest

from rlaif.trainer.play.capturing.recorder import SegmentLog
from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.presets import PARTS

NOTHING = np.zeros(len(PARTS), dtype=np.float32)
HERE = GameFacts(0, 7, 8, 8, 12, True, True, True, False, False, False, None)  # type: ignore[arg-type]  # not looked at
DEAD = HERE._replace(dead=True)


def model(weight: float = 2.0, gamma: float = 1.0) -> PayingModel:
    return PayingModel(3, lambda rows: rows[:, 0], gamma, weight)


def row(value: float) -> np.ndarray:
    return np.array([value, 0.0], dtype=np.float32)


def played(*moments: tuple[float, GameFacts], frames: int = 4) -> SegmentLog:
    log = SegmentLog(10)
    log.begin(row(0.25), HERE)
    for value, facts in moments:
        log.note(row(value), facts, 0.0, NOTHING, frames=frames)
    return log


def test_a_rise_of_the_potential_is_paid_by_its_weight():
    pay = played((0.5, HERE), (0.5, HERE), (0.25, HERE)).pay(model(), terminated=False)
    assert pay.model == (0.5, 0.0, -0.5)
    assert pay.potentials == (0.25, 0.5, 0.5, 0.25)
    assert pay.model_rise == 0.0


def test_a_death_that_does_not_end_the_episode_is_rewarded_as_by_the_learner():
    log = played((0.5, HERE), (0.5, DEAD), (-1.0, HERE), (1.0, HERE))
    assert log.pay(model(), terminated=False).model == (0.5, 0.0, -3.0, 4.0)
    height = replace(model(), mode="height")
    assert log.pay(height, terminated=False).model == (0.5, 0.0, 0.0, 1.0)


def test_without_a_model_or_a_finite_answer_its_reward_is_unknown():
    log = played((0.5, HERE))
    assert log.pay(None, terminated=False).potentials is None
    nonsense = PayingModel(3, lambda rows: rows[:, 0] * np.nan, 1.0, 1.0)
    assert log.pay(nonsense, terminated=False).potentials is None


def test_rooms_are_reported_once_in_the_order_in_which_they_were_entered():
    other, leaving = HERE._replace(room=9), HERE._replace(room=11, settled=False)
    log = played((0.5, HERE), (0.5, leaving), (0.5, other), (0.5, HERE))
    assert list(log.rooms) == [(0, 7), (0, 9)]
    log.begin(row(0.0), other)
    assert list(log.rooms) == [(0, 9)]


@pytest.mark.parametrize("part", [0, 3])
def test_only_parts_that_paid_are_reported(part):
    log = SegmentLog(10)
    log.begin(row(0.0), HERE)
    amounts = NOTHING.copy()
    amounts[part] = 0.5
    log.note(row(0.0), HERE, 0.0, NOTHING, frames=4)
    log.note(row(0.0), HERE, 0.5, amounts, frames=4)
    pay = log.pay(None, terminated=False)
    assert pay.game == ((1, 0.5),)
    assert pay.parts == {PARTS[part]: ((1, 0.5),)}
