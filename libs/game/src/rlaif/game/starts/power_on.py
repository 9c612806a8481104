"""Plays a freshly booted emulator from power-on until the player has control.

The start of Oracle of Seasons (US) was NOT TESTED ON THE CARTRIDGE: no ROM was available. It
follows the public disassembly (github.com/Stewmath/oracles-disasm: code/bank3Cutscenes.s runIntro,
code/bank2.s b2_fileSelectScreen and runTextInput, code/bank1.s initializeGame, include/wram.s), and
the tests play it on a model of these facts:

    company screens   START does nothing
    cinematic         START shows the title
    title             START fades to the file screen; the intro's thread ends
    mode 1, files     A takes the file under the cursor: an empty one asks what to do (mode 5), a
                      used one for the message speed (still mode 1, step 2), which A confirms
    mode 5            A on the first line: a new game, whose name is entered next (mode 2)
    mode 2, name      A writes the letter under the cursor; START goes to OK, and confirms there
    opening           scenes with texts, which A continues, until the player stands in Holodrum

The screen of the files is `mode`, its step `mode2`: 0 draws the screen, 1 takes buttons.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_text

PRESS_FRAMES = 8
"""Frames for which a button is pressed, and again released before RAM is read."""

INTRO_THREAD = 0xC2E0
"""State of thread 0, first byte of wThreadStateBuffer: 0 once the intro has ended."""

LETTERS = 0xCBBE
"""wFileSelect.textInputCursorPos: position of the next letter, 0 to 4."""

_GAME_STATE = address("wGameState")


class NoStartError(Exception):
    """The game stayed on a screen; the message has the screen and the duration."""


@dataclass(frozen=True)
class BootStage:
    """One or several screens before play."""

    screen: str  # for messages
    is_over: Callable[[RamBlocks], bool]
    press: Callable[[RamBlocks], Action]  # the next button; NOP waits
    frames: int  # limit
    steady: int = 0  # frames without a button after which `is_over` must still hold


def play_stages(emulator: Emulator, stages: Sequence[BootStage]) -> None:
    """Play the stages in order; NoStartError if one exceeds its limit."""
    for stage in stages:
        for _ in range(stage.frames // (2 * PRESS_FRAMES)):
            if _is_left(emulator, stage):
                break
            emulator.step(stage.press(read_blocks(emulator)), PRESS_FRAMES)
            emulator.step(Action.NOP, PRESS_FRAMES)
        else:
            if not _is_left(emulator, stage):
                raise NoStartError(f"after {stage.frames} frames it still shows {stage.screen}")


def _is_left(emulator: Emulator, stage: BootStage) -> bool:
    if not stage.is_over(read_blocks(emulator)):
        return False
    for _ in range(stage.steady // PRESS_FRAMES):
        emulator.tick(PRESS_FRAMES)
        if not stage.is_over(read_blocks(emulator)):
            return False
    return True


MODE, STEP = 0xCBB3, 0xCBB4
"""wFileSelect.mode and .mode2; the intro and scenes use the same bytes for counters."""


FILES, NAME, NEW_FILE = 1, 2, 5
"""Values of the mode."""

TAKES_BUTTONS, MESSAGE_SPEED = 1, 2
"""Values of the step; the second in mode 1 only."""

PLAYING, SUMMONED = 2, 3
"""wGameState in play, and while the player falls into the world; 0 on the screens before."""


def _is_at(ram: RamBlocks, mode: int, step: int) -> bool:
    return ram.u8(MODE) == mode and ram.u8(STEP) == step


def _shows_files(ram: RamBlocks) -> bool:
    return ram.u8(INTRO_THREAD) == 0 and _is_at(ram, FILES, TAKES_BUTTONS)


def _asks_for_a_name(ram: RamBlocks) -> bool:
    return _is_at(ram, NAME, TAKES_BUTTONS)


def _has_begun(ram: RamBlocks) -> bool:
    return ram.u8(_GAME_STATE) in (PLAYING, SUMMONED)


def _take_the_empty_file(ram: RamBlocks) -> Action:
    takes = _is_at(ram, FILES, TAKES_BUTTONS) or _is_at(ram, NEW_FILE, TAKES_BUTTONS)
    return Action.A if takes else Action.NOP


def _write_a_letter(ram: RamBlocks) -> Action:
    if not _asks_for_a_name(ram):
        return Action.NOP
    return Action.A if ram.u8(LETTERS) == 0 else Action.START


def _take_the_new_file(ram: RamBlocks) -> Action:
    takes = _is_at(ram, FILES, TAKES_BUTTONS) or _is_at(ram, FILES, MESSAGE_SPEED)
    return Action.A if takes else Action.NOP


def _read_on(ram: RamBlocks) -> Action:
    return Action.A if is_text(ram) else Action.NOP


ORACLE_STAGES = (
    BootStage("the company screens or the title", _shows_files, lambda ram: Action.START, 2_400),
    BootStage("the choice of a file", _asks_for_a_name, _take_the_empty_file, 600),
    BootStage("the entry of a name", _shows_files, _write_a_letter, 900),
    BootStage("the new file or its message speed", _has_begun, _take_the_new_file, 900),
    BootStage("the opening scenes", has_control, _read_on, 14_400, steady=64),
)
"""Five minutes of game at most, some 20 seconds of emulation."""


__all__ = ["START_ALONE", "NoStartError", "bring_to_control", "stages_of"]

START_ALONE = (
    BootStage(
        screen="a screen that START alone does not leave",
        is_over=has_control,
        press=lambda ram: Action.START,
        frames=6_000,
    ),
)
"""Sufficient for the embedded game, and for others that need START any number of times."""


def bring_to_control(emulator: Emulator, cartridge: Cartridge) -> None:
    """Play a freshly booted game until the player first has control.

    The same ROM reaches the same state.

    Raises:
        NoStartError: It stayed on a screen for too long.
    """
    play_stages(emulator, stages_of(cartridge))
    emulator.tick(PRESS_FRAMES)


def stages_of(cartridge: Cartridge) -> Sequence[BootStage]:
    """The stages of a game; START alone for an unknown one."""
    return ORACLE_STAGES if cartridge.game == "oracle-of-seasons" else START_ALONE
