"""States of the embedded game which differ for the player differ for the policy.

Each pair is a state of the walkthrough and the same one with nothing else changed than the fact in
question, taken from another of its states: the difference must be visible in the field.
"""

import json
from itertools import pairwise

import numpy as np
import pytest

from rlaif.contracts.game.observation import LAYOUT
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import WRAM_START, Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import symbol
from rlaif.game.memory.predicates import is_menu, is_running
from rlaif.game.policy_input.layout import POLICY_INPUT
from rlaif.game.policy_input.writer import policy_input

LOOK_EVERY = 4
TILES = "wRoomLayout", "wRoomCollisions"


@pytest.fixture(scope="module")
def states(cartridge_folder) -> list[RamBlocks]:
    """The RAM of every decision step of the walkthrough; about 50 MB."""
    emulator = Emulator(load_cartridge().data)
    seen, frame = [], 0
    for button, frames in json.loads((cartridge_folder / "walkthrough.json").read_text())["steps"]:
        for _ in range(frames):
            emulator.step(Action[button], 1)
            frame += 1
            if frame % LOOK_EVERY == 0:
                seen.append(read_blocks(emulator))
    emulator.close()
    return seen


def at(ram: RamBlocks, name: str) -> bytes:
    place = symbol(name)
    return ram.block(place.address, place.size)


def with_fact(ram: RamBlocks, other: RamBlocks, *names: str) -> RamBlocks:
    """`ram` with some symbols as `other` has them."""
    wram = bytearray(ram.wram)
    for name in names:
        start = symbol(name).address - WRAM_START
        wram[start : start + symbol(name).size] = at(other, name)
    return RamBlocks(bytes(wram), ram.dungeon_layout)


def changes(states: list[RamBlocks], *names: str) -> list[tuple[RamBlocks, RamBlocks]]:
    """(state, the same with the symbols as they were a step before), of a play in one room."""
    found = []
    for before, after in pairwise(states):
        same_place = at(before, "wActiveRoom") == at(after, "wActiveRoom")
        if is_running(before) and same_place and any(at(before, n) != at(after, n) for n in names):
            found.append((after, with_fact(after, before, *names)))
    return found


def reported(one: RamBlocks, other: RamBlocks) -> set[str]:
    """Fields of the policy's input, and groups of the 128 numbers, in which two states differ."""
    differ = policy_input(one) != policy_input(other)
    fields = {each.name for each in POLICY_INPUT.fields if differ[each.span].any()}
    unlike = encode(one) != encode(other)
    return fields | {f"observation: {LAYOUT[slot].group}" for slot in np.flatnonzero(unlike)}


def test_every_swap_in_the_menu_is_reported(states: list[RamBlocks]):
    swaps = [
        (before, after)
        for before, after in pairwise(states)
        if is_menu(before)
        and is_menu(after)
        and at(before, "wInventoryB") != at(after, "wInventoryB")
    ]
    assert len(swaps) >= 4
    for before, after in swaps:
        assert {"item_b", "inventory"} <= reported(after, before)


@pytest.mark.parametrize(
    ("fact", "names", "field"),
    [
        ("coins that were picked up", ("wNumRupees",), "coins"),
        ("hearts that were lost", ("wLinkHealth",), "health"),
        ("a thing that is carried", ("wLinkGrabState",), "grab"),
        ("a torch that is lit", ("wNumTorchesLit",), "torches"),
        ("a button that is pressed", ("wActiveTriggers",), "triggers"),
        ("a lever that was struck", ("wSwitchState", "wToggleBlocksState"), "switches"),
        ("what the ground shows", TILES, "tiles"),
        ("treasures", ("wObtainedTreasureFlags",), "treasures"),
        ("bombs", ("wNumBombs",), "stores"),
        ("seeds", ("wNumEmberSeeds",), "stores"),
        ("seasons of the rod", ("wObtainedSeasons",), "seasons"),
        ("keys", ("wDungeonSmallKeys",), "keys"),
        ("the season of the room", ("wRoomStateModifier",), "observation: room"),
    ],
)  # fmt: skip
def test_what_changed_under_the_players_hands_is_reported(
    states: list[RamBlocks], fact: str, names: tuple[str, ...], field: str
):
    found = changes(states, *names)
    assert found, f"the walkthrough has {fact}"
    differ = [reported(now, before) for now, before in found]
    assert all(differ), "none of them looks like the one before"
    assert any(field in each for each in differ)


def test_each_kind_of_thing_that_was_used_up_leaves_another_tile(states: list[RamBlocks]):
    """Bushes cut, rocks lifted, chests opened, torches lit, doors opened, blocks pushed."""
    layout, gone = POLICY_INPUT["tiles"].span, set()
    for now, before in changes(states, *TILES):
        for tile in np.flatnonzero(policy_input(now)[layout] != policy_input(before)[layout]):
            index = at(before, "wRoomLayout")[tile]
            gone.add((before.u8(symbol("wActiveCollisions").address), index))
    outdoors = {index for table, index in gone if table == 0}
    underground = {index for table, index in gone if table in (3, 4)}
    assert outdoors & {0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB}, "a bush was cut or burnt"
    assert outdoors & {0xC0, 0xC1, 0xC2}, "a rock was lifted"
    assert 0xF1 in outdoors | underground, "a chest was opened"
    assert 0x08 in underground, "a torch was lit"
    assert underground & {0x1E, *range(0x70, 0x78)}, "a locked door was opened"


def test_no_field_is_still_on_the_whole_way_but_for_what_the_game_has_not(states: list[RamBlocks]):
    rows = np.array([policy_input(ram) for ram in states[::4]])
    still = {
        each.name for each in POLICY_INPUT.fields if not np.ptp(rows[:, each.span], axis=0).any()
    }
    assert still <= {
        "last_decision", "riding", "running", "menu_page", "menu_cursor", "chunks", "ring",
        "seeds_in_use", "shielded",
    }, still  # fmt: skip
