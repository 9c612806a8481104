"""The second cartridge: built from its sources, of an unknown game, and can be finished."""

import json
import re
from pathlib import Path

from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.memory.state import decode
from rlaif.game.starts.power_on import bring_to_control
from rlaif.game.stories.story_lookup import story_of

NOOK = Path(__file__).parents[2] / "data/nook"
ROM = NOOK / "nook.gbc"


def test_the_rom_is_what_its_sources_build(cartridge_program):
    options = ["--data", str(NOOK), "--title", "NOOK", "--output", str(ROM)]
    cartridge_program("build.py", "--check", *options)


def test_it_is_a_game_of_which_nothing_is_known_and_comes_into_play():
    cartridge = load_cartridge(ROM)
    assert cartridge.game == "other"
    assert not story_of(cartridge.game).milestones
    assert not words_of(cartridge.game, cartridge.data).rooms
    emulator = Emulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    bring_to_control(emulator, cartridge)
    state = decode(read_blocks(emulator))
    assert (state.group, state.room) == (0, 0x33)
    assert has_control(read_blocks(emulator))
    emulator.close()


def test_it_has_no_room_of_the_embedded_game(cartridge_folder):
    assert not rooms_of(NOOK / "rooms.c") & rooms_of(cartridge_folder / "data/rooms.c")


def test_who_knows_the_way_takes_its_essence():
    cartridge = load_cartridge(ROM)
    emulator = Emulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    for button, frames in json.loads((NOOK / "walk.json").read_text())["steps"]:
        emulator.step(Action[button], frames)
    assert read_blocks(emulator).u8(address("wEssencesObtained")) == 1
    emulator.close()


def rooms_of(source):
    """(group, id) of every room of a table."""
    found = set(re.findall(r"\{(\d), (0x[0-9A-F]{2}), \"", source.read_text()))
    assert found
    return found
