"""From power-on to where the player can act: a freshly booted emulator in, the same in play out.

Games ask for buttons on the way: a title, a file, a name.
"""

from collections.abc import Sequence

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.predicates import has_control
from rlaif.game.starts.oracle_start import (
    ORACLE_STAGES,
    PRESS_FRAMES,
    BootStage,
    NoStartError,
    play_stages,
)

__all__ = ["START_ALONE", "NoStartError", "bring_to_control", "stages_of"]

START_ALONE = (
    BootStage(
        screen="a screen that START alone does not leave",
        is_over=has_control,
        press=lambda ram: Action.START,
        frames=6_000,
    ),
)
"""Enough for the embedded game, and for others whose title asks for START however often."""


def bring_to_control(emulator: Emulator, cartridge: Cartridge) -> None:
    """Play a freshly booted game to where the player first has control.

    The same ROM comes to the same state.

    Raises:
        NoStartError: It stayed on a screen for longer than that takes.
    """
    play_stages(emulator, stages_of(cartridge))
    emulator.tick(PRESS_FRAMES)


def stages_of(cartridge: Cartridge) -> Sequence[BootStage]:
    """The way into a game; START alone for one of which nothing is known."""
    return ORACLE_STAGES if cartridge.game == "oracle-of-seasons" else START_ALONE
