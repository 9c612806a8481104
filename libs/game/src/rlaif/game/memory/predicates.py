"""The kind of the current state: pure predicates of the RAM, the same for both games.

The conditions follow the order in which the game itself tests them (linkState01 in
object_code/common/specialObjects/link.s, cutscene01 in code/bank1.s of the disassembly).
"""

from functools import lru_cache
from operator import itemgetter
from typing import Any

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.game.memory.puzzles import is_settled, puzzle_elements

_GAME_STATE = address("wGameState")
_CUTSCENE = address("wCutsceneIndex")
_SAVEFILE = address("wSavefileString")
_TEXT = address("wTextIsActive")
_TEXT_MODE = address("wTextDisplayMode")
_MENU = address("wOpenedMenuType")
_SCROLL = address("wScrollMode")
_FADE = address("wPaletteThreadMode")
_DISABLED = address("wDisabledObjects")
_SCRIPTED = address("wUseSimulatedInput")
_LINK_ID = address("w1Link.id")
_DEATH = address("wLinkDeathTrigger")
_LINK_STATE = address("w1Link.state")
_HEALTH = address("wLinkHealth")
_FORCED = address("wLinkForceState")
_DYING: Any = itemgetter(*(where - WRAM_START for where in (_DEATH, _LINK_STATE, _HEALTH)))
_CONTROL_AT: list[Any] = [
    *(where - WRAM_START for where in (_GAME_STATE, _CUTSCENE, _LINK_STATE, _SCROLL, _DISABLED)),
    slice(_SAVEFILE - WRAM_START, _SAVEFILE - WRAM_START + len(SAVEFILE_STRING)),
    *(where - WRAM_START for where in (_MENU, _FADE, _DEATH, _FORCED, _TEXT, _SCRIPTED)),
]
_CONTROL: Any = itemgetter(*_CONTROL_AT)
_INVENTORY_TEXT = 2
_PLAYING = 2
_IN_GAME = 1
_LINK_NORMAL, _LINK_DYING = 1, 3
_LINK_IN_CUTSCENE = 8
_FROZEN = 0x81


def is_running(ram: RamBlocks) -> bool:
    """A file is loaded and the game is being played, not the title or the file screen."""
    return (
        ram.u8(_GAME_STATE) == _PLAYING
        and ram.block(_SAVEFILE, len(SAVEFILE_STRING)) == SAVEFILE_STRING
    )


def is_text(ram: RamBlocks) -> bool:
    """A text box is on the screen."""
    return ram.u8(_TEXT) != 0


def is_text_choice(ram: RamBlocks) -> bool:
    """The text box offers a choice."""
    return ram.u8(_TEXT) != 0 and ram.u8(_TEXT_MODE) == 1


def is_menu(ram: RamBlocks) -> bool:
    """The inventory, the map or the save screen is open."""
    return ram.u8(_MENU) != 0


def is_scrolling(ram: RamBlocks) -> bool:
    """The screen moves from one room to the next.

    Bit 7 is ignored: it is set while the camera follows the player in a large room.
    """
    return ram.u8(_SCROLL) & 0x0C != 0


def is_fading(ram: RamBlocks) -> bool:
    """The screen fades; the game is mostly halted."""
    return ram.u8(_FADE) != 0


def is_cutscene(ram: RamBlocks) -> bool:
    """The game plays by itself."""
    return (
        ram.u8(_CUTSCENE) >= 2
        or ram.u8(_DISABLED) & _FROZEN != 0
        or ram.u8(_SCRIPTED) != 0
        or ram.u8(_LINK_ID) == _LINK_IN_CUTSCENE
    )


def is_dying(ram: RamBlocks) -> bool:
    """No health, or the death animation."""
    death, state, health = _DYING(ram.wram)
    return bool(death) or state == _LINK_DYING or not health


def is_room_stable(ram: RamBlocks) -> bool:
    """The room has been entered: group, room and position are consistent."""
    return ram.u8(_SCROLL) & 0x7F == 1 and ram.u8(_CUTSCENE) == _IN_GAME


def has_control(ram: RamBlocks) -> bool:
    """The player reacts to the buttons."""
    return _has_control(_CONTROL(ram.wram))


@lru_cache(maxsize=4096)
def _has_control(seen: tuple[Any, ...]) -> bool:
    state, cutscene, link, scroll, disabled, save, *must_be_zero = seen
    return (
        state == _PLAYING
        and save == SAVEFILE_STRING
        and cutscene == _IN_GAME
        and link == _LINK_NORMAL
        and scroll & 0x0E == 0
        and disabled & _FROZEN == 0
        and not any(must_be_zero)
    )


def is_dialog_state(ram: RamBlocks) -> bool:
    """A person speaks or a sign is read: a state for the dialog planner.

    Texts inside the menu are excluded.
    """
    return (
        is_running(ram)
        and is_text(ram)
        and ram.u8(_TEXT_MODE) != _INVENTORY_TEXT
        and not is_menu(ram)
    )


def is_puzzle_state(ram: RamBlocks) -> bool:
    """The player can act in a room with something left to push, press, hit or light.

    A room whose item was taken or whose event has happened is done. Like every predicate it
    depends on one state only; callers that switch modes wait for a few consistent frames.
    """
    return has_control(ram) and is_room_stable(ram) and has_puzzle(ram)


def has_puzzle(ram: RamBlocks) -> bool:
    """The room has something left to push, press, hit or light."""
    return not is_settled(ram) and bool(puzzle_elements(ram))
