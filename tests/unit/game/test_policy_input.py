"""Policy input besides the 128 observations: bounds on any RAM, and the meaning of each field."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.decisions.catalog import COUNT, Arm
from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.policy_input.layout import NO_DECISION, POLICY_INPUT, SIZE, TILES
from rlaif.game.policy_input.writer import policy_input, write_policy_input

FIELDS = POLICY_INPUT.fields
HIGHEST = np.concatenate([np.full(len(field.slots), field.highest) for field in FIELDS])
CODES = np.concatenate([np.full(len(field.slots), field.codes is not None) for field in FIELDS])


def ram(**bytes_at: int | bytes) -> RamBlocks:
    """A RAM of zeros but for the symbols named; `w1Link.x` is written `w1Link_x`."""
    wram = bytearray(WRAM_SIZE)
    for name, value in bytes_at.items():
        start = address(name.replace("w1Link_", "w1Link.")) - WRAM_START
        data = bytes([value]) if isinstance(value, int) else value
        wram[start : start + len(data)] = data
    return RamBlocks(bytes(wram))


def field(row: np.ndarray, name: str) -> list[float]:
    return [float(value) for value in row[POLICY_INPUT[name].span]]


def named(row: np.ndarray, name: str) -> set[str]:
    """The slots of a field that are not 0."""
    return {
        slot
        for slot, value in zip(POLICY_INPUT[name].slots, field(row, name), strict=True)
        if value
    }


# --- any bytes ------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    plain=st.none() | st.integers(0, 255),
    mode=st.integers(0, 255),
    menu=st.sampled_from([0, 1, 1, 12, 255]),
    text=st.integers(0, 2),
    last=st.none() | st.integers(0, COUNT - 1),
    arm=st.sampled_from(["seed", "buttons", "macros", "options"]),
)
@settings(max_examples=200, deadline=None)
def test_any_bytes_give_numbers_within_the_bounds_of_their_fields(
    seed: int, plain: int | None, mode: int, menu: int, text: int, last: int | None, arm: Arm
):
    rng = np.random.default_rng(seed)
    wram = bytearray(rng.bytes(WRAM_SIZE) if plain is None else bytes([plain]) * WRAM_SIZE)
    wram[address("wActiveCollisions") - WRAM_START] = mode
    wram[address("wOpenedMenuType") - WRAM_START] = menu
    wram[address("wInventorySubmenu") - WRAM_START] %= 4
    for name in ("wTextIsActive", "wTextDisplayMode"):
        wram[address(name) - WRAM_START] = text
    out = np.full(SIZE, np.nan, dtype=np.float32)
    write_policy_input(RamBlocks(bytes(wram), rng.bytes(256)), last, out, arm=arm)
    assert np.isfinite(out).all(), "all of it is written, and with numbers"
    assert (out >= 0).all()
    assert (out <= HIGHEST).all(), POLICY_INPUT
    assert (out[CODES] == np.floor(out[CODES])).all(), "codes are whole"


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_it_is_a_function_of_the_ram_whatever_was_written_before(seed: int):
    rng = np.random.default_rng(seed)
    one, other = (RamBlocks(rng.bytes(WRAM_SIZE)) for _ in range(2))
    first = policy_input(one)
    policy_input(other)
    assert np.array_equal(policy_input(one), first)


def test_a_strided_row_is_written_as_well():
    rows = np.zeros((SIZE, 2), dtype=np.float32)
    write_policy_input(ram(wInventoryB=5), 3, rows[:, 1])
    assert np.array_equal(rows[:, 1], policy_input(ram(wInventoryB=5), 3))
    assert not rows[:, 0].any()


@pytest.mark.parametrize("decision", [-1, COUNT])
def test_a_decision_that_there_is_not_is_refused(decision: int):
    with pytest.raises(ValueError, match=f"decision {decision}"):
        policy_input(ram(), decision)


# --- the layout -----------------------------------------------------------------------------------


def test_fields_follow_each_other_and_fill_the_row():
    at = 0
    for each in FIELDS:
        assert each.start == at
        at = each.span.stop
    assert at == SIZE
    assert len({each.name for each in FIELDS}) == len(FIELDS)


def test_every_number_has_a_name_of_its_own_in_its_field_and_every_field_a_meaning():
    for each in FIELDS:
        assert len(set(each.slots)) == len(each.slots), each.name
        assert each.meaning.isascii()
        assert each.codes is None or each.codes >= 2


def test_a_field_that_there_is_not_is_a_key_error():
    with pytest.raises(KeyError, match="nothing"):
        POLICY_INPUT["nothing"]


# --- meaning of the fields ------------------------------------------------------------------------


def test_the_last_decision_is_reported_and_that_there_was_none():
    assert field(policy_input(ram(), 17), "last_decision") == [17]
    assert field(policy_input(ram(), None), "last_decision") == [NO_DECISION]


@pytest.mark.parametrize("button", ["wInventoryB", "wInventoryA"])
def test_each_item_on_a_button_looks_different(button: str):
    seen = {policy_input(ram(**{button: item})).tobytes() for item in range(0x20)}
    assert len(seen) == 0x20


def test_the_cell_of_the_inventory_in_which_an_item_is_is_reported():
    cells = field(policy_input(ram(wInventoryStorage=bytes([0, 3, 0, 0x15]))), "inventory")
    assert cells[:5] == [0, 3, 0, 0x15, 0]


@pytest.mark.parametrize("page", [0, 1, 2])
def test_the_cursor_of_the_open_inventory_is_reported(page: int):
    symbol = f"wInventorySubmenu{page}CursorPos"
    seen = [
        field(
            policy_input(ram(wOpenedMenuType=1, wInventorySubmenu=page, **{symbol: cell})),
            "menu_cursor",
        )
        for cell in range(16)
    ]
    assert seen == [[cell + 1] for cell in range(16)]
    assert field(policy_input(ram(**{symbol: 5})), "menu_cursor") == [0], "no menu is open"


def test_a_question_and_the_option_under_its_cursor_are_reported():
    def option(**more: int) -> list[float]:
        return field(policy_input(ram(**more)), "text_option")

    assert option(wTextIsActive=1, wTextDisplayMode=1, wSelectedTextOption=0xFF) == [1]
    assert option(wTextIsActive=1, wTextDisplayMode=1, wSelectedTextOption=1) == [3]
    assert option(wTextIsActive=1, wTextDisplayMode=0, wSelectedTextOption=1) == [0]


def test_which_text_is_on_the_screen_is_reported_while_it_is():
    text = {"wTextIndex": b"\x05\x04"}
    assert named(policy_input(ram(wTextIsActive=1, **text)), "text") == {"bit_0", "bit_2", "bit_10"}
    assert named(policy_input(ram(**text)), "text") == set()


@pytest.mark.parametrize(("bcd", "reached"), [
    (b"\x00\x00", 0), (b"\x05\x00", 5), (b"\x10\x00", 10), (b"\x19\x00", 15), (b"\x20\x00", 20),
    (b"\x99\x09", 999),
])  # fmt: skip
def test_coins_are_reported_by_what_they_suffice_for(bcd: bytes, reached: int):
    coins = named(policy_input(ram(wNumRupees=bcd)), "coins")
    assert max((int(name.removeprefix("from_")) for name in coins), default=0) == reached


def test_treasures_are_reported_one_by_one():
    bits = bytearray(16)
    bits[0x42 >> 3] |= 1 << (0x42 & 7)
    bits[0x05 >> 3] |= 1 << (0x05 & 7)
    reported = named(policy_input(ram(wObtainedTreasureFlags=bytes(bits))), "treasures")
    assert reported == {"sword", "gnarled_key"}


def test_the_seasons_of_the_rod_are_reported_and_not_its_own_bit():
    assert named(policy_input(ram(wObtainedSeasons=0x85)), "seasons") == {"spring", "autumn"}


def test_the_keys_are_those_of_the_dungeon_where_the_player_is():
    keys = {"wDungeonSmallKeys": b"\x00\x02"}
    here = policy_input(ram(wDungeonIndex=1, **keys))
    assert named(here, "keys") == {"from_1", "from_2"}
    assert named(policy_input(ram(wDungeonIndex=0xFF, **keys)), "keys") == set()


def test_what_lies_beyond_a_small_room_does_not_count():
    layout = bytearray(TILES)
    layout[11] = 0xC5  # beyond the tenth column
    clean, stale = policy_input(ram()), policy_input(ram(wRoomLayout=bytes(layout)))
    assert np.array_equal(clean, stale)
    large = policy_input(ram(wRoomLayout=bytes(layout), wRoomIsLarge=1))
    assert not np.array_equal(large, policy_input(ram(wRoomIsLarge=1)))


def test_what_the_player_has_set_is_reported_with_its_timer():
    wram = bytearray(WRAM_SIZE)
    bomb = 0xD700 - WRAM_START
    wram[bomb], wram[bomb + 1], wram[bomb + 6], wram[bomb + 0x0B], wram[bomb + 0x0D] = (
        1,
        3,
        51,
        8,
        0,
    )
    row = policy_input(RamBlocks(bytes(wram)))
    assert field(row, "own_object") == pytest.approx([1, 0.5, 0.5 + 8 / 512, 0.2])
    assert field(row, "own_object_id") == [3]
