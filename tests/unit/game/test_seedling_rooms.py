import re
from pathlib import Path

from rlaif.game.stories.seedling_rooms import SEEDLING_ROOMS

ROOMS_C = Path(__file__).parents[3] / "libs/game/cartridge/data/rooms.c"


def test_the_rooms_are_called_as_the_cartridge_calls_them():
    found = re.findall(r'\{(\d), 0x([0-9A-F]{2}), "([^"]*)"', ROOMS_C.read_text())
    assert {(int(group), int(room, 16)): name for group, room, name in found} == SEEDLING_ROOMS
