"""Faults that earlier agents for this game had, each as a test that it is not here.

The reward could be farmed, paid for what a save state already held, or read the wrong bytes; the
runs looked well all the same. Each test is named after the fault. The loops that farm are in
`test_reward_farming`; outages that became scores of 0.5 are in the judge's tests, reward models
that were constant in the reward model's.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

PRESETS = pytest.mark.parametrize("weights", ["seed", "default"])


@pytest.fixture
def game(scripted_game: Callable[..., Any]) -> Any:
    made = scripted_game("default")
    made.begin()
    return made


def potential() -> PotentialFunction:
    spec = RewardNetSpec(layout_version=LAYOUT_VERSION, shift=0.2, spread=0.1, scale=2.0)
    return PotentialFunction(RewardNet(spec, generator=torch.Generator().manual_seed(0)))


def ram(game: Any) -> RamBlocks:
    return RamBlocks(bytes(game.wram))


@PRESETS
def test_a_late_save_state_paid_78_on_its_first_nop(
    scripted_game: Callable[..., Any], weights: str
):
    game = scripted_game(weights)
    game.poke("wEssencesObtained", 0b11)
    game.poke("wDungeonSmallKeys", bytes([2, 1, 3]))
    game.poke("wObtainedTreasureFlags", b"\xff" * 16)
    game.poke("wGlobalFlags", b"\xff" * 16)
    game.poke("wGroup4RoomFlags", b"\xf0" * 256)
    game.rupees(500)
    game.begin()
    assert game.step(Action.NOP) == {}
    assert game.reward == 0.0


@PRESETS
def test_starting_in_dungeon_1_paid_99(scripted_game: Callable[..., Any], weights: str):
    game = scripted_game(weights)
    game.go(4, 0x1C, 120, 150)
    game.poke("wDungeonIndex", 1)
    game.begin()
    assert game.step() == {}


def test_old_tiles_cost_more_with_every_step_on_known_ground(game: Any):
    for x in range(16, 144, 16):
        game.go(0, 0x66, x, 64)
        game.step()
    explored = game.reward
    rng = np.random.default_rng(0)
    for _ in range(6000):
        game.go(0, 0x66, 16 * int(rng.integers(1, 9)), 64)
        assert game.step() == {}
    assert game.reward == explored > 0


def test_an_essence_in_a_dungeon_set_its_flag_before_the_boss_was_compared(game: Any):
    game.go(4, 0x13, 80, 64)
    game.poke("wDungeonIndex", 1)
    game.step()
    game.poke("wGroup4RoomFlags", 0x80, offset=0x12)
    game.flag("wEssencesObtained", 0)
    paid = game.step()
    assert paid == pytest.approx({"event": 2.0, "essence": 10.0}), "boss and essence in one step"


def test_keys_were_read_in_heros_cave_alone(game: Any):
    for dungeon in range(12):
        game.poke("wDungeonSmallKeys", 1, offset=dungeon)
        assert game.step() == {"key": 2.0}


def test_the_camera_of_a_large_room_was_taken_for_a_transition(game: Any):
    game.go(4, 0x40, 24, 24)
    game.poke("wRoomIsLarge", 1)
    game.poke("wScrollMode", 0x81)
    first = encode(ram(game))
    assert "room" in game.step()
    game.go(4, 0x40, 120, 24)
    assert "novelty" in game.step(), "walking there is exploring"
    assert (encode(ram(game)) != first).any(), "and the observation is fresh"


def test_a_press_of_b_was_taken_for_a_press_of_a(scripted_game: Callable[..., Any]):
    game = scripted_game("seed")
    game.begin()
    charged = [action for action in Action if game.step(action)]
    assert charged == [Action.START], "actions are compared by name, not by number"


def test_curiosity_loved_the_start_menu(game: Any):
    for page in range(600):
        game.poke("wOpenedMenuType", 1 + page % 3)
        assert game.step(Action.START) == {}


def test_the_frontier_never_moved_because_the_encoder_got_a_copy(game: Any):
    seen = []
    for room in (0x65, 0x55, 0x66, 0x75):
        game.poke("wGroup0RoomFlags", 0x10, offset=room)
        seen.append(encode(ram(game)).tobytes())
    assert len(set(seen)) == 4, "each visit around shows"


def test_work_a_step_grew_with_the_squares_that_were_visited(game: Any):
    for room in range(200):
        for x in range(0, 160, 16):
            game.go(0, room, x, 64)
            game.step()
    here = game.facts
    sizes = [len(term._seen) for _, term in game.rewards._used if hasattr(term, "_seen")]
    assert max(sizes) > 1900
    calls = _calls_of(lambda: game.rewards.step(here, Action.NOP))
    assert calls < 60, "look-ups, no pass over what was seen"


def _calls_of(act: Callable[[], object]) -> int:
    """Python and C calls that `act` makes."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count
