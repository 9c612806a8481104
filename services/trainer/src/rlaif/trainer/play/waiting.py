"""Frames in which the player cannot act: they are played, not decided on.

While rooms scroll, the screen fades or a scene plays, no button does anything. A decision step that
ends there goes on with no button held until a button matters again.
"""

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory import predicates
from rlaif.game.memory.blocks import RamBlocks, read_blocks


def plays_alone(ram: RamBlocks) -> bool:
    """Whether the game runs and no button does anything at this moment.

    Texts and menus want a button. The title screen does too. A dying player ends the episode.
    """
    return (
        not predicates.has_control(ram)
        and predicates.is_running(ram)
        and not predicates.is_text(ram)
        and not predicates.is_menu(ram)
        and not predicates.is_dying(ram)
    )


def wait_for_player(emulator: Emulator, ram: RamBlocks, limit: int, *, render: bool = False) -> int:
    """Play at most `limit` frames without a button while the game plays alone; gives how many."""
    frames = 0
    while frames < limit and plays_alone(ram):
        emulator.tick(1, render=render)
        frames += 1
        ram = read_blocks(emulator)
    return frames
