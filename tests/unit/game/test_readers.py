import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.inspection import Tile, raw, value_of
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.memory_map import symbol
from rlaif.game.memory.symbols import SYMBOLS, Symbol


def of(encoding, size=1):
    return Symbol("x", 0xC000, 0, size, encoding, "A", "a test", "test")


@given(st.integers(0, 99))
def test_a_bcd_byte_reads_as_its_hexadecimal_digits_say(value):
    assert value_of(of("bcd8"), bytes.fromhex(f"{value:02d}")) == value
    assert bcd(int(str(value), 16)) == value


@given(st.integers(0, 9999))
def test_two_bcd_bytes_read_low_byte_first(value):
    digits = f"{value:04d}"
    data = bytes.fromhex(digits[2:] + digits[:2])
    assert value_of(of("bcd16", 2), data) == value
    assert bcd16(int(digits, 16)) == value


@given(st.integers(0, 99), st.integers(0, 99))
def test_bcd_keeps_the_order_of_numbers(one, other):
    low, high = sorted((int(str(one), 16), int(str(other), 16)))
    assert bcd(low) <= bcd(high)


@given(st.sets(st.integers(0, 127)))
def test_a_set_of_bits_gives_back_its_numbers(numbers):
    data = bytearray(16)
    for number_ in numbers:
        data[number_ // 8] |= 1 << number_ % 8
    assert value_of(of("set", 16), bytes(data)) == numbers
    wram = bytearray(0x2000)
    wram[0x692:0x6A2] = data
    ram = RamBlocks(bytes(wram))
    assert {n for n in range(128) if ram.bit(0xC692, n)} == numbers


@given(st.integers(0, 2**32 - 1))
def test_binary_numbers_are_little_endian(value):
    assert value_of(of("u32", 4), value.to_bytes(4, "little")) == value
    assert value_of(of("u16", 2), value.to_bytes(4, "little")[:2]) == value & 0xFFFF
    assert value_of(of("u8"), bytes([value & 0xFF])) == value & 0xFF


@given(st.integers(-128, 127))
def test_heights_and_counters_are_signed(value):
    assert value_of(of("s8"), bytes([value & 0xFF])) == value


@given(st.integers(0, 15), st.integers(0, 15))
def test_a_tile_has_its_row_in_the_high_nibble(column, row):
    assert value_of(of("tile"), bytes([row << 4 | column])) == Tile(column, row)


@pytest.mark.parametrize(
    ("encoding", "byte", "value"),
    [("direction", 0, "up"), ("direction", 1, "right"), ("direction", 2, "down"),
     ("direction", 3, "left"), ("direction", 0xFF, None), ("angle", 0x08, 8), ("angle", 0x1F, 31),
     ("angle", 0x20, None), ("angle", 0xFF, None)],
)  # fmt: skip
def test_directions_and_angles_may_point_nowhere(encoding, byte, value):
    assert value_of(of(encoding), bytes([byte])) == value


def test_texts_end_at_zero_and_pointers_leave_out_empty_ones():
    assert value_of(of("text", 5), b"Pip\0\xff") == "Pip"
    assert value_of(of("text", 3), b"a\x07b") == "a?b"
    assert value_of(of("pointers", 6), b"\x40\xd3\x00\x00\x80\xd0") == (0xD340, 0xD080)


@given(st.binary(min_size=256, max_size=256))
def test_any_bytes_can_be_decoded(data):
    for place in SYMBOLS:
        value_of(place, data[: place.size])


def test_bytes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="wNumRupees has 2 bytes, got 1"):
        value_of(symbol("wNumRupees"), b"\x12")


def test_banked_symbols_are_read_from_their_own_bank_whichever_is_selected(rom_maker):
    emulator = Emulator(rom_maker())
    memory = emulator._pyboy.memory
    memory[0xFF70] = 3
    memory[1, 0xD00D] = 0x55
    memory[3, 0xD00D] = 0x66
    memory[3, 0xDB01] = 0x0F
    memory[0xFFAA] = 0x21
    for name, data in (("w1Link.xh", b"\x55"), ("hCameraX", b"\x21\0")):
        assert raw(emulator, symbol(name)) == data
    assert raw(emulator, symbol("w3TileCollisions"))[1] == 0x0F
    emulator.close()


def test_a_grey_game_has_bank_one_and_no_other(rom_maker):
    emulator = Emulator(rom_maker(colour=False))
    emulator._pyboy.memory[0xD00D] = 0x55
    assert raw(emulator, symbol("w1Link.xh")) == b"\x55"
    assert raw(emulator, symbol("w2DungeonLayout")) == bytes(256)
    emulator.close()
