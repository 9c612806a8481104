"""Two moments of Oracle of Seasons: the small variables that real play had there, no tiles.

The first stands at the gate of the Maku tree, the second has just been given the gnarled key.
"""

import hashlib

import pytest

from rlaif.game.inspection import main
from rlaif.game.machine import cartridges
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.rom_checks import header_checksum
from rlaif.game.memory import predicates
from rlaif.game.memory.entities import enemies, interactions, things
from rlaif.game.memory.memory_map import symbol
from rlaif.game.memory.state import decode
from rlaif.game.stories.milestones import MilestoneLatch, milestones_reached
from rlaif.game.stories.story_lookup import story_of

BOTH = {
    "wLinkMaxHealth": "0c", "w1Link.enabled": "03", "w1Link.state": "01", "w1Link.health": "01",
    "w1Link.collisionType": "80", "w1Link.animMode": "10", "wLinkObjectIndex": "d0",
    "wLinkPushingDirection": "ff", "wPushingAgainstTileCounter": "14", "wInventoryB": "05",
    "wSwordLevel": "01", "wShieldLevel": "01", "wMaxBombs": "10", "wAnimalCompanion": "0b",
    "wActiveRing": "ff", "wDungeonIndex": "ff", "wDungeonMapPosition": "1c",
    "wDungeonRoomProperties": "24", "wDungeonNumFloors": "01", "wDungeonVisitedFloors": "01",
    "wGameState": "02", "wCutsceneIndex": "01", "wScrollMode": "01", "wScreenTransitionState": "02",
    "wSelectedTextOption": "ff", "wSavefileString": "5a31313231362d30", "wLinkName": "434a",
}  # fmt: skip
GATE = BOTH | {
    "wLinkHealth": "0a", "w1Link.direction": "02", "w1Link.angle": "ff", "w1Link.yh": "76",
    "w1Link.xh": "4c", "wActiveTilePos": "74", "wActiveTileIndex": "2b", "wActiveRoom": "d9",
    "wLoadingRoom": "d9", "wTilesetFlags": "01", "wMinimapRoom": "d9", "wWarpTransition": "80",
    "wObtainedTreasureFlags": "24000000000000010000", "wGlobalFlags": "0004000002040000",
    "wPlaytimeCounter": "43680000", "wGashaMaturity": "9600",
}  # fmt: skip
KEY = BOTH | {
    "wLinkHealth": "0c", "w1Link.direction": "00", "w1Link.angle": "00", "w1Link.yh": "63",
    "w1Link.xh": "50", "wActiveTilePos": "65", "wActiveTileIndex": "0d", "wActiveGroup": "02",
    "wActiveRoom": "0b", "wLoadingRoom": "0b", "wActiveCollisions": "02", "wTilesetFlags": "02",
    "wMinimapGroup": "02", "wMinimapRoom": "0b", "wWarpTransition": "93", "wTextIsActive": "01",
    "wObtainedTreasureFlags": "24000000000000010400", "wGlobalFlags": "0004000102040000",
    "wTextIndex": "4204", "wNumEnemies": "01", "wPlaytimeCounter": "103d0100",
    "wGashaMaturity": "2c01",
}  # fmt: skip
GATE_PLACES = ((0xC7D9, b"\x10"),)
KEY_PLACES = (
    (0xC7D9, b"\x90"), (0xC80B, b"\xb0"), (0xD080, b"\x01\x56"), (0xD240, b"\x01\x87"),
    (0xD540, b"\x01\x60"),
)  # fmt: skip


def writes(moment, places):
    return [(name, bytes.fromhex(data)) for name, data in moment.items()] + list(places)


@pytest.fixture
def gate(make_ram):
    return make_ram(*writes(GATE, GATE_PLACES), play=False)


@pytest.fixture
def key(make_ram):
    return make_ram(*writes(KEY, KEY_PLACES), play=False)


def test_the_player_at_the_gate_has_control_and_the_one_who_reads_has_not(gate, key):
    assert predicates.has_control(gate)
    assert not predicates.has_control(key)
    assert predicates.is_dialog_state(key)
    assert not predicates.is_dialog_state(gate)
    assert not predicates.is_puzzle_state(gate)
    assert predicates.is_room_stable(gate)
    assert not predicates.is_scrolling(gate)


def test_the_state_at_the_gate_is_that_of_the_screen(gate):
    state = decode(gate)
    assert (state.group, state.room, state.x, state.y, state.facing) == (0, 0xD9, 76, 118, "down")
    assert (state.health, state.max_health, state.item_a, state.item_b) == (10, 12, 0, 5)
    assert (state.bombs, state.rupees) == (0, 0)
    assert (state.dungeon, state.keys, state.text_id) == (None, None, None)
    assert state.owns(0x05)
    assert not state.owns(0x42)


def test_the_key_is_an_item_and_the_bubble_no_enemy(key):
    state = decode(key)
    assert (state.group, state.room, state.text_id) == (2, 0x0B, 0x42)
    assert state.enemies_left == 1
    assert enemies(key) == []
    assert [found.id for found in interactions(key)] == [0x87, 0x60]
    assert [found.slot for found in things(key)] == [0xD540]
    assert state.owns(0x42)


def test_the_story_continues_from_the_gate_to_the_key(gate, key):
    story = story_of("oracle-of-seasons")
    at_gate = [step.name for step in milestones_reached(gate, story)]
    assert at_gate == ["link_summoned", "pregame_intro", "intro_done", "enter_heros_cave", "sword"]
    latch = MilestoneLatch(story, gate)
    new = [step.name for step in latch.update(key)]
    assert new == ["maku_gate", "gnarled_key_quest", "gnarled_key"]


@pytest.fixture
def oracle_rom(tmp_path, rom_maker, monkeypatch):
    """A ROM that only says to be Oracle of Seasons; the real one cannot be shipped."""
    data = bytearray(rom_maker(title=b"ZELDA DIN\0\0AZ7E").ljust(0x100000, b"\xff"))
    data[0x148] = 5
    data[0x14D] = header_checksum(data)
    path = tmp_path / "game.gbc"
    path.write_bytes(data)
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(cartridges, "ORACLE_OF_SEASONS_SHA1", digest)
    return path


@pytest.fixture
def key_state(tmp_path, oracle_rom):
    emulator = Emulator(oracle_rom, sound_emulated=True)
    memory = emulator._pyboy.memory
    for at in range(0xC000, 0xE000):
        memory[(1, at) if at >= 0xD000 else at] = 0
    for name, data in writes(KEY, KEY_PLACES):
        first = symbol(name).address if isinstance(name, str) else name
        for at, byte in enumerate(data, start=first):
            memory[(1, at) if at >= 0xD000 else at] = byte
    path = tmp_path / "game.gbc.state"
    path.write_bytes(emulator.save_state())
    emulator.close()
    return path


def test_a_user_can_check_the_map_against_a_state_of_their_own_game(oracle_rom, key_state, capsys):
    assert main([str(key_state), "--rom", str(oracle_rom)]) == 0
    text = capsys.readouterr().out
    for expected in (
        "ZELDA DIN: Oracle of Seasons (USA)", "room.room 11", "player.x 80", "player.y 99",
        "player.facing up", "player.max_hearts 3.0", "items ['sword', 'gnarled_key']",
        "to come d1_keyhole",
    ):  # fmt: skip
        assert expected in " ".join(text.split()), expected
