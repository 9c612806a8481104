from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.inspection import raw
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.memory_map import symbol


@given(st.integers(0, 9999))
def test_bcd_reads_as_its_hexadecimal_digits_say(value):
    assert bcd(int(str(value % 100), 16)) == value % 100
    assert bcd16(int(str(value), 16)) == value


@given(st.integers(0, 99), st.integers(0, 99))
def test_bcd_keeps_the_order_of_numbers(one, other):
    low, high = sorted((int(str(one), 16), int(str(other), 16)))
    assert bcd(low) <= bcd(high)


@given(st.sets(st.integers(0, 127)))
def test_a_set_of_bits_gives_back_its_numbers(numbers):
    wram = bytearray(0x2000)
    for number in numbers:
        wram[0x692 + number // 8] |= 1 << number % 8
    ram = RamBlocks(bytes(wram))
    assert {n for n in range(128) if ram.bit(0xC692, n)} == numbers


@given(st.integers(0, 2**16 - 1))
def test_numbers_of_two_bytes_are_little_endian(value):
    wram = bytearray(0x2000)
    wram[0x692:0x694] = value.to_bytes(2, "little")
    assert RamBlocks(bytes(wram)).u16(0xC692) == value


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
