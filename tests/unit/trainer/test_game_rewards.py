"""The game's own reward pays for what is new, once, and its parts sum to it."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.machine.actions import Action
from rlaif.trainer.rewards.game import terms
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import PARTS, RewardWeights, preset

START = GameFacts(
    group=0, room=0x65, x=80, y=64, health=12, running=True, settled=True, control=True,
    menu=False, text=False, dead=False,
    progress=Progress(items=0b11, events=0b111, essences=0, keys=bytes([1] * 12), rupees=10),
)  # fmt: skip


@pytest.fixture
def ledger() -> EpisodeRewards:
    rewards = EpisodeRewards(preset("default"))
    rewards.begin(START)
    return rewards


def changed(**changes: Any) -> GameFacts:
    """The start, with other facts or other progress."""
    progress = {k: changes.pop(k) for k in list(changes) if k in Progress._fields}
    return START._replace(progress=START.progress._replace(**progress), **changes)


def paid(ledger: EpisodeRewards, action: int = Action.NOP, **changes: Any) -> dict[str, float]:
    parts = ledger.step(changed(**changes), action)
    return {name: float(v) for name, v in zip(PARTS, parts, strict=True) if v}


def test_the_same_room_number_in_another_area_is_another_room(ledger: EpisodeRewards):
    assert paid(ledger, group=3)["room"] == pytest.approx(0.1)
    assert "room" not in paid(ledger, group=2), "groups 1 to 3 share their rooms"


def test_dying_is_paid_once_and_nothing_for_where_the_game_puts_the_player(
    ledger: EpisodeRewards,
):
    assert set(paid(ledger, health=0, dead=True)) == {"death", "damage"}
    assert paid(ledger, health=0, dead=True) == {}, "he lies there for a while"
    assert paid(ledger, health=12, room=0x70, settled=False) == {}, "the screen fades"
    assert paid(ledger, health=12, room=0x70, x=8) == {}, "the place is new, and no find"
    assert paid(ledger, health=12, room=0x70, x=8) == {}
    assert "square" in paid(ledger, room=0x70, x=40) or "novelty" in paid(ledger, room=0x70, x=56)
    assert "room" in paid(ledger, room=0x71), "what he walks to is"
    assert set(paid(ledger, room=0x71, health=0, dead=True)) == {"death", "damage"}, "each time"


def test_standing_still_is_a_matter_of_time_whatever_a_step_is():
    charged = {}
    for frame_skip in (2, 4, 16):
        ledger = EpisodeRewards(preset("seed"), frame_skip=frame_skip)
        ledger.begin(START)
        steps = 0
        while "stuck" not in paid(ledger):
            steps += 1
        charged[frame_skip] = steps * frame_skip
    assert charged == {2: 120, 4: 120, 16: 128}


def test_keys_pay_above_the_most_that_their_dungeon_has_seen(ledger: EpisodeRewards):
    one, two = bytes([1] * 12), bytes([1, 2] + [1] * 10)
    other = bytes([1, 1, 2] + [1] * 9)
    assert paid(ledger, keys=two) == {"key": 2.0}
    assert paid(ledger, keys=one) == {}
    assert paid(ledger, keys=two) == {}
    assert paid(ledger, keys=other) == {"key": 2.0}, "of another dungeon"


def test_each_flag_of_a_set_pays_once(ledger: EpisodeRewards):
    assert paid(ledger, items=0b1111) == {"item": 6.0}
    assert paid(ledger, items=0b0000) == {}
    assert paid(ledger, items=0b11111) == {"item": 3.0}
    assert paid(ledger, items=0b11111, events=0b1000, essences=1) == {"event": 2.0, "essence": 10.0}


def test_damage_and_death_cost(ledger: EpisodeRewards):
    assert paid(ledger, health=8) == pytest.approx({"damage": -0.4})
    assert paid(ledger, health=0, dead=True) == pytest.approx({"damage": -0.8, "death": -2.0})


def test_an_episode_that_begins_on_the_title_screen_has_its_start_where_a_file_is_played():
    ledger = EpisodeRewards(preset("default"))
    ledger.begin(changed(running=False, settled=False, items=0, events=0, rupees=0))
    assert ledger.rooms_visited == 0
    assert paid(ledger) == {}, "what the file holds was earned by somebody else"
    assert paid(ledger, items=0b111) == {"item": 3.0}


def test_an_episode_that_begins_in_a_scroll_has_its_start_where_it_ends():
    ledger = EpisodeRewards(preset("default"))
    ledger.begin(changed(settled=False, room=0x64))
    assert paid(ledger) == {}
    assert paid(ledger, room=0x64)["room"] == pytest.approx(0.1)


def test_a_well_known_square_pays_less_and_a_second_entry_nothing():
    class Visits:
        def episodes(self, square: int) -> int:
            return 3 if square == START._replace(x=16).square_index else 0

    ledger = EpisodeRewards(preset("default"), Visits())
    ledger.begin(START)
    assert paid(ledger, x=0)["novelty"] == pytest.approx(0.05)
    assert paid(ledger, x=16)["novelty"] == pytest.approx(0.025), "1/√(3 + 1) of it"
    assert paid(ledger, x=0) == {}


def test_standing_still_is_charged_with_control_alone_and_never_paid_back():
    ledger = EpisodeRewards(preset("seed"))
    ledger.begin(START)
    for _ in range(terms.STUCK_STEPS):
        assert paid(ledger) == {}
    assert paid(ledger, text=True, control=False) == {}
    assert paid(ledger) == {"stuck": -1.0}
    assert paid(ledger, x=81) == pytest.approx({"move": 0.1}), "no refund"
    assert paid(ledger, x=81) == {}


def test_the_registry_has_one_term_a_part_in_order():
    weights = preset("seed")
    found = {part: term.weight for part, term in terms.build_terms(weights).items()}
    assert list(found.items()) == list(asdict(weights).items())


def test_the_seeds_numbers_are_a_preset():
    weights = preset("seed")
    assert (weights.move, weights.room, weights.square) == (0.1, 20, 5)
    assert (weights.menu, weights.stuck, weights.death) == (-0.5, -1, -50)


moments = st.builds(
    GameFacts,
    group=st.integers(0, 255), room=st.integers(0, 255), x=st.integers(0, 255),
    y=st.integers(0, 255), health=st.integers(0, 255), running=st.booleans(),
    settled=st.booleans(), control=st.booleans(), menu=st.booleans(), text=st.booleans(),
    dead=st.booleans(),
    progress=st.builds(
        Progress, items=st.integers(0, 2**180 - 1), events=st.integers(0, 2**64 - 1),
        essences=st.integers(0, 255), keys=st.binary(min_size=12, max_size=12),
        rupees=st.integers(0, 999),
    ),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    episode=st.lists(st.tuples(moments, st.integers(0, 7)), min_size=1, max_size=20),
    name=st.sampled_from(["seed", "default"]),
)
def test_the_parts_sum_exactly_to_the_reward_whatever_the_game_does(
    episode: list[tuple[GameFacts, int]], name: Any
):
    ledger = EpisodeRewards(preset(name))
    ledger.begin(episode[0][0])
    once = Counts()
    for facts, action in episode:
        parts = ledger.step(facts, action)
        assert parts.dtype == np.float32
        assert parts.shape == (len(PARTS),)
        assert np.isfinite(parts).all()
        assert total(parts) == float(np.add.reduce(parts))
        once.add(parts)
    once.check(preset(name))


class Counts:
    """What an episode paid at most, whatever happened in it."""

    def __init__(self) -> None:
        self.paid = np.zeros(len(PARTS))

    def add(self, parts: np.ndarray) -> None:
        self.paid += parts

    def check(self, weights: RewardWeights) -> None:
        paid = dict(zip(PARTS, self.paid.tolist(), strict=True))
        bounds = {"essence": 8, "rupee": 999, "item": 180, "room": 1024, "key": 12 * 255}
        for part, units in bounds.items():
            assert paid[part] <= getattr(weights, part) * units * (1 + 1e-6)
        for part in ("damage", "death", "menu", "stuck"):
            assert paid[part] <= 0, "a penalty is never paid back"


@pytest.mark.parametrize("name", ["seed", "default"])
def test_a_random_walk_never_pays_a_room_or_a_square_twice(name: Any):
    rng = np.random.default_rng(2)
    ledger = EpisodeRewards(preset(name))
    ledger.begin(START)
    seen = {(START.room, START.x // 16, START.y // 16)}
    squares = 0.0
    for _ in range(2000):
        facts = START._replace(room=0x60 + int(rng.integers(3)), x=int(rng.integers(160)))
        squares += float(ledger.step(facts, Action.NOP)[PARTS.index("square")])
        seen.add((facts.room, facts.x // 16, facts.y // 16))
    assert squares == pytest.approx((len(seen) - 1) * preset(name).square, rel=1e-4)
