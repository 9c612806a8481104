"""The embedded game keeps its state where the memory map says."""

import pytest

from rlaif.contracts.game.observation import slot_index
from rlaif.game.description.describe import describe
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.memory.state import decode

WALKS, STEPS_A_WALK = 150, 8
"""A walk of 32 pixels is long enough to leave the middle of a room; 150 of them leave the room."""


@pytest.fixture
def playing():
    """The embedded game at the first moment of control."""
    emulator = Emulator(load_cartridge().data)
    for _ in range(300):
        emulator.step(Action.START, 8)
        emulator.step(Action.NOP, 8)
        if has_control(read_blocks(emulator)):
            break
    emulator.tick(8)
    yield emulator
    emulator.close()


def test_play_begins_with_hearts_and_a_visited_room(playing):
    state = decode(read_blocks(playing))
    assert state.running
    assert state.has_control
    assert 0 < state.health <= state.max_health
    assert state.rooms_visited == 1
    assert describe(state)["room"]["group"] == state.group


@pytest.mark.parametrize(
    ("action", "facing"),
    [(Action.UP, "up"), (Action.DOWN, "down"), (Action.LEFT, "left"), (Action.RIGHT, "right")],
)
def test_a_direction_turns_and_moves_the_player_unless_a_wall_is_there(playing, action, facing):
    before = decode(read_blocks(playing))
    free = encode(read_blocks(playing))[
        slot_index({"up": "free_north", "down": "free_south",
                    "left": "free_west", "right": "free_east"}[facing])
    ]  # fmt: skip
    for _ in range(4):
        playing.step(action, 4)
    after = decode(read_blocks(playing))
    assert after.facing == facing
    if free > 0.2:
        assert (after.x, after.y) != (before.x, before.y)
