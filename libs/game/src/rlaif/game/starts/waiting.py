"""Waits between the steps of a player, while the game runs by itself or the player has died."""

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.predicates import has_control, is_dying, is_menu, is_running, is_text

MAX_RESPAWN_STEPS = 150
"""Maximum wait for a respawn, in steps of four frames; 10 s."""


def plays_alone(ram: RamBlocks) -> bool:
    """Whether the game runs and no button has an effect; texts, menus and the title need one."""
    return (
        not has_control(ram)
        and is_running(ram)
        and not is_text(ram)
        and not is_menu(ram)
        and not is_dying(ram)
    )


def wait_for_player(emulator: Emulator, ram: RamBlocks, limit: int, *, render: bool = False) -> int:
    """Play at most `limit` frames without a button while the game plays alone; returns how many."""
    frames = 0
    while frames < limit and plays_alone(ram):
        emulator.tick(1, render=render)
        frames += 1
        ram = read_blocks(emulator)
    return frames
