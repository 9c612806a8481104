"""The game's own reward pays for what is new, once, and its parts sum to it."""

import dataclasses

import numpy as np
import pytest

from rlaif.game.actions import Action
from rlaif.trainer.rewards.game import PARTS, EpisodeRewards, GameFacts, preset

START = GameFacts(
    group=0, room=0x65, x=80, y=64, rupees=10, keys=1, items=2, essences=0, events=3,
    health=12, dead=False, menu=False, text=False,
)  # fmt: skip


@pytest.fixture
def ledger() -> EpisodeRewards:
    rewards = EpisodeRewards(preset("default"))
    rewards.begin(START)
    return rewards


def paid(ledger: EpisodeRewards, action: int = Action.NOP, **changes: object) -> dict[str, float]:
    parts = ledger.step(dataclasses.replace(START, **changes), action)
    return {name: float(v) for name, v in zip(PARTS, parts, strict=True) if v}


def test_standing_still_pays_nothing_though_the_start_state_has_much(ledger: EpisodeRewards):
    assert paid(ledger) == {}


def test_a_new_room_pays_once(ledger: EpisodeRewards):
    assert paid(ledger, room=0x66)["room"] == 1.0
    assert "room" not in paid(ledger)
    assert "room" not in paid(ledger, room=0x66)


def test_the_same_room_number_in_another_group_is_another_room(ledger: EpisodeRewards):
    assert paid(ledger, group=3)["room"] == 1.0


def test_rupees_that_are_spent_and_found_again_pay_nothing(ledger: EpisodeRewards):
    assert paid(ledger, rupees=15)["rupee"] == pytest.approx(0.1)
    assert paid(ledger, rupees=5) == {}
    assert paid(ledger, rupees=15) == {}


def test_a_key_that_is_used_and_another_that_is_found_pay_once_each(ledger: EpisodeRewards):
    assert paid(ledger, keys=2)["key"] == 2.0
    assert paid(ledger, keys=1) == {}
    assert paid(ledger, keys=2) == {}


def test_damage_and_death_cost(ledger: EpisodeRewards):
    assert paid(ledger, health=8)["damage"] == pytest.approx(-0.4)
    assert paid(ledger, health=0, dead=True) == pytest.approx({"damage": -0.8, "death": -2.0})


@pytest.mark.parametrize("name", ["seed", "default"])
def test_a_random_walk_never_pays_a_room_or_a_square_twice(name: str):
    rng = np.random.default_rng(2)
    ledger = EpisodeRewards(preset(name))
    ledger.begin(START)
    seen = {(START.room, START.x // 16, START.y // 16)}
    squares = 0.0
    for _ in range(2000):
        facts = dataclasses.replace(
            START, room=0x60 + int(rng.integers(3)), x=int(rng.integers(160)), y=64
        )
        squares += float(ledger.step(facts, Action.NOP)[PARTS.index("square")])
        seen.add((facts.room, facts.x // 16, facts.y // 16))
    assert squares == pytest.approx((len(seen) - 1) * preset(name).square, rel=1e-4)


def test_the_seeds_numbers_are_a_preset():
    weights = preset("seed")
    assert (weights.move, weights.room, weights.square) == (0.1, 20, 5)
    assert (weights.menu, weights.stuck, weights.death) == (-0.5, -1, -50)
