"""A real place to search."""

import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.starts.power_on import bring_to_control


@pytest.fixture(scope="package")
def village() -> RamBlocks:
    """RAM of the built-in game's first room."""
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    ram = read_blocks(emulator)
    emulator.close()
    return ram
