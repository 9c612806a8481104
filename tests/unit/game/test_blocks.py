import pytest

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import LiveRam, RamBlocks, read_blocks
from rlaif.testing.data.written_ram import written_ram


@pytest.mark.parametrize(("wram", "layout"), [(0x1FFF, 256), (0x2000, 255), (0x2001, 256)])
def test_blocks_of_another_size_are_refused(wram, layout):
    with pytest.raises(ValueError, match="expected 8192 and 256"):
        RamBlocks(bytes(wram), bytes(layout))


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
    ram = written_ram((0xC693, 0x01), play=False)
    assert ram.bit(0xC692, 8)
    assert not ram.bit(0xC692, 0)
