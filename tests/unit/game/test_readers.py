from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16


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
