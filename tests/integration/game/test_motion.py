"""Animations of the game: water, fire, plants, and characters that are hit."""

import json

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import has_control

WATCHED = 140
"""Frames: longer than the slowest motion takes to come round."""

GRASS, WATER, TORCH, FLOWERS = 0x02, 0xD2, 0x09, 0x04
ROOMS = {
    "village": (0, 0x77),
    "meadow": (0, 0x76),
    "lake": (0, 0x79),
    "cave": (4, 0x1C),
    "den": (4, 0x0C),
}
HIT_FRAMES, HURT_FRAMES = 15, 39
"""What is left of them one frame after a hit."""

PLAYER, ENEMIES = 0xD000, range(0xD080, 0xE080, 0x100)
INVINCIBLE, BOSS = 0x2B, 0x78


def u8(emulator, where):
    return emulator.read(where, where + 1)[0]


def moments(emulator, steps):
    """Save states: the first control in some rooms, the first hits."""
    found = {}
    for button in (Action[b] for b, n in steps for _ in range(n)):
        emulator.step(button, 1)
        if u8(emulator, 0xC2EE) != 2:
            continue
        room = u8(emulator, 0xCC49), u8(emulator, 0xCC4C)
        seen = [name for name, where in ROOMS.items() if where == room and name not in found]
        if seen and has_control(read_blocks(emulator)):
            found[seen[0]] = emulator.save_state()
        if "hurt" not in found and u8(emulator, PLAYER + INVINCIBLE) == HURT_FRAMES:
            found["hurt"] = emulator.save_state()
        for slot in ENEMIES:
            what = "boss hit" if u8(emulator, slot + 1) == BOSS else "hit"
            if what not in found and u8(emulator, slot + INVINCIBLE) == HIT_FRAMES:
                found[what] = emulator.save_state()
        if {*ROOMS, "hurt", "hit", "boss hit"} == set(found):
            return found
    return found


@pytest.fixture(scope="module")
def emulator():
    made = Emulator(load_cartridge().data)
    yield made
    made.close()


@pytest.fixture(scope="module")
def found(emulator, cartridge_folder):
    steps = json.loads((cartridge_folder / "walkthrough.json").read_text())["steps"]
    return moments(emulator, steps)


def cells(emulator, index):
    """Rows and columns of a tile in the room's layout."""
    layout = np.frombuffer(emulator.read(0xCF00, 0xCFC0), dtype=np.uint8).reshape(12, 16)
    return list(zip(*np.nonzero(layout[:8, :10] == index), strict=True))


def cell(picture, row, column):
    return picture[16 + 16 * row : 32 + 16 * row, 16 * column : 16 * column + 16]


def shown(emulator, row, column):
    """How many pictures one place of the room shows in a while."""
    seen = set()
    for _ in range(WATCHED):
        emulator.step(Action.NOP, 1, render=True)
        seen.add(cell(emulator.screen(), row, column).tobytes())
    return len(seen)


@pytest.mark.parametrize(
    ("room", "index"), [("lake", WATER), ("cave", TORCH), ("village", FLOWERS)]
)
def test_water_torches_and_flowers_move(emulator, found, room, index):
    emulator.load_state(found[room])
    before = emulator.read(0xCF00, 0xCFC0)
    row, column = cells(emulator, index)[0]
    assert 2 <= shown(emulator, row, column) <= 4
    assert emulator.read(0xCF00, 0xCFC0) == before


def palettes_of(emulator, slot, corner, frames):
    """The palette of an object's sprite in each frame; None where it is not drawn."""
    seen = []
    for _ in range(frames):
        emulator.step(Action.NOP, 1)
        y, x = u8(emulator, slot + 0x0B) + corner[0], u8(emulator, slot + 0x0D) + corner[1]
        table = np.frombuffer(emulator.read(0xC000, 0xC0A0), dtype=np.uint8).reshape(40, 4)
        # A frame may end between moving and drawing: two pixels at most.
        drawn = [
            int(attr & 7)
            for at_y, at_x, _, attr in table.astype(int)
            if abs(at_y - y) <= 2 and abs(at_x - x) <= 2
        ]
        seen.append(drawn[0] if drawn else None)
    return seen


@pytest.mark.parametrize(
    ("moment", "corner"), [("hurt", (24, 0)), ("hit", (24, 0)), ("boss hit", (16, -8))]
)
def test_a_hit_character_flashes_white_and_stays_visible(emulator, found, moment, corner):
    white, frames = 6, 12
    emulator.load_state(found[moment])
    struck = PLAYER
    if moment != "hurt":
        struck = next(e for e in ENEMIES if u8(emulator, e + INVINCIBLE) == HIT_FRAMES)
    seen = palettes_of(emulator, struck, corner, frames)
    assert None not in seen
    assert 4 <= seen.count(white) <= 8
    assert len(set(seen)) == 2


def test_a_floor_is_one_tile_in_ram_and_many_on_the_screen(emulator, found):
    emulator.load_state(found["meadow"])
    emulator.step(Action.NOP, 1, render=True)
    picture = emulator.screen()
    grass = cells(emulator, GRASS)
    assert len(grass) > 20
    assert len({cell(picture, row, column).tobytes() for row, column in grass}) >= 10
