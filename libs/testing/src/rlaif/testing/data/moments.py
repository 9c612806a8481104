"""Save states of the walkthrough: what a moment looks like in, the state of its first look out."""

from collections.abc import Callable, Mapping
from pathlib import Path

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed

Moment = Callable[[RamBlocks], bool]


def saved_moments(inputs: Path, wanted: Mapping[str, Moment]) -> dict[str, bytes]:
    """Save states by name; LookupError for a moment that never comes. Some seconds.

    Args:
        inputs: `libs/game/cartridge/walkthrough.json`.
        wanted: What is so at the moment, by its name.
    """
    emulator = PyBoyEmulator(load_cartridge().data)
    waiting, found = dict(wanted), {}
    for frame, action in enumerate(pressed(inputs), start=1):
        if not waiting:
            break
        emulator.step(action, 1)
        if frame % FRAME_SKIP:
            continue
        ram = read_blocks(emulator)
        for name in [name for name, is_now in waiting.items() if is_now(ram)]:
            found[name] = emulator.save_state()
            del waiting[name]
    emulator.close()
    if waiting:
        raise LookupError(f"moments that never came: {', '.join(waiting)}")
    return found
