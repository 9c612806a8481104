import pytest

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import LiveRam, RamBlocks, bcd, bcd16, read_blocks


@pytest.mark.parametrize(("byte", "number"), [(0x00, 0), (0x09, 9), (0x10, 10), (0x99, 99)])
def test_a_bcd_byte_is_read_in_decimal(byte, number):
    assert bcd(byte) == number


def test_bcd_words_are_read_in_decimal():
    assert bcd16(0x0123) == 123
    assert bcd16(0x0500) == 500
    assert bcd16(0x0999) == 999


@pytest.mark.parametrize(("wram", "layout"), [(0x1FFF, 256), (0x2000, 255), (0x2001, 256)])
def test_blocks_of_another_size_are_refused(wram, layout):
    with pytest.raises(ValueError, match="expected 8192 and 256"):
        RamBlocks(bytes(wram), bytes(layout))


def test_reading_an_emulator_gives_its_work_ram(emulator):
    emulator.tick(50)
    ram = read_blocks(emulator)
    assert ram.wram == emulator.wram()
    assert ram.u8(0xC000) == emulator.read(0xC000, 0xC001)[0]
    assert ram.u16(0xC000) == int.from_bytes(emulator.read(0xC000, 0xC002), "little")
    assert ram.block(0xC010, 16) == emulator.read(0xC010, 0xC020)


def test_the_dungeon_grid_comes_from_bank_two(rom_maker):
    emulator = Emulator(rom_maker())
    emulator._pyboy.memory[2, 0xDC05] = 0x42
    assert read_blocks(emulator).dungeon_layout[5] == 0x42
    emulator.close()


@pytest.mark.parametrize("colour", [True, False])
def test_live_ram_follows_the_emulator(rom_maker, colour):
    emulator = Emulator(rom_maker(colour=colour))
    live = LiveRam(emulator)
    for value in (0x42, 0x17):
        emulator._pyboy.memory[0xC123] = value
        if colour:
            emulator._pyboy.memory[2, 0xDC05] = value
        emulator.tick(3)
        copied = read_blocks(emulator)
        assert live.wram.tobytes() == copied.wram
        assert live.dungeon_layout.tobytes() == copied.dungeon_layout
        assert live.dungeon_layout[5] == (value if colour else 0)
    with pytest.raises(ValueError, match="read-only"):
        live.wram[0] = 1
    emulator.close()


def test_a_bit_set_is_read_across_bytes():
    wram = bytearray(0x2000)
    wram[0x693] = 0x01
    assert RamBlocks(bytes(wram)).bit(0xC692, 8)
    assert not RamBlocks(bytes(wram)).bit(0xC692, 0)
