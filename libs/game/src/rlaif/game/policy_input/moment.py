"""The part of an input that differs from step to step; RAM in, numbers out.

Oracle of Seasons keeps the cursor of its inventory at wInventorySubmenu0CursorPos and the two bytes
behind it, one a page. The embedded cartridge keeps its own among its private variables, where the
linker puts them, so that `menu_cursor` stands still there. The decisions ITEM do not need it:
they open the satchel, find the cursor by what moves, and close it again.
"""

from rlaif.game.decisions.catalog import COUNT
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, enemies, is_riding, nearest, player_position
from rlaif.game.memory.memory_map import (
    OBJECT_ID,
    OBJECT_STRIDE,
    OBJECT_X,
    OBJECT_Y,
    address,
)
from rlaif.game.motion.grid import FEET
from rlaif.game.motion.terrain import TILE, TILE_ROWS
from rlaif.game.policy_input.layout import (
    ENEMY_CODES,
    HEALTH,
    NEAREST_ENEMIES,
    NO_DECISION,
    bits_of,
    reached,
)
from rlaif.game.policy_input.owned import item_code

_GRAB = address("wLinkGrabState")
_RUNNING = address("wPegasusSeedCounter")
_SHIELD = address("wUsingShield")
_HEALTH = address("wLinkHealth")
_MENU, _PAGE, _STATE = (
    address("wOpenedMenuType"),
    address("wInventorySubmenu"),
    address("wMenuLoadState"),
)
_CURSORS = address("wInventorySubmenu0CursorPos")
_TEXT, _TEXT_MODE = address("wTextIsActive"), address("wTextDisplayMode")
_TEXT_ID, _OPTION = address("wTextIndex"), address("wSelectedTextOption")
_INVENTORY, _CELLS, _PAGES = 1, 16, 3
_OTHER_MENU, _LAST_STATE = 11, 3
_QUESTION, _OPTIONS = 1, 4
_TILE_PIXELS = TILE - 1
_HANDS = {0: (1, 0, 0, 0), 0x41: (0, 1, 0, 0), 0xC2: (0, 0, 1, 0), 0x83: (0, 0, 0, 1)}
_OTHER_HANDS = (0, 0, 0, 1)
_RUNS = 0x8000
_NO_TEXT = [0] * 16

_FIRST_OBJECT = 0xD200
_OBJECTS = (0xE000 - _FIRST_OBJECT) // OBJECT_STRIDE
_NONE_THERE = bytes(_OBJECTS)
_COUNTER = 6
_NOTHING = (0.0, 0.0, 0.0, 0.0, 0)
_SPAN = 512


def moment(ram: RamBlocks, last_decision: int | None) -> list[float]:
    """The block `MOMENT` of the layout."""
    x, y = player_position(ram)
    hands = _HANDS.get(ram.u8(_GRAB), _OTHER_HANDS)
    return [
        _decision(last_decision),
        min((y + FEET) // TILE, TILE_ROWS - 1),
        x // TILE,
        x % TILE / _TILE_PIXELS,
        (y + FEET) % TILE / _TILE_PIXELS,
        *hands,
        is_riding(ram),
        ram.u16(_RUNNING) >= _RUNS,
        ram.u8(_SHIELD) != 0,
        *_menu(ram),
        _option(ram),
        *(bits_of(ram.block(_TEXT_ID, 2)) if ram.u8(_TEXT) else _NO_TEXT),
        *reached(ram.u8(_HEALTH), HEALTH),
        *_enemies(ram, x, y),
        *_own_object(ram, x, y),
    ]


def _decision(last: int | None) -> int:
    if last is None:
        return NO_DECISION
    if not 0 <= last < COUNT:
        raise ValueError(f"decision {last}, there are {COUNT}")
    return last


def _menu(ram: RamBlocks) -> tuple[int, int, int, int]:
    kind = ram.u8(_MENU)
    if not kind:
        return 0, 0, 0, 0
    page = min(ram.u8(_PAGE), _PAGES)
    cursor = 0
    if kind == _INVENTORY and page < _PAGES:
        cursor = min(ram.u8(_CURSORS + page), _CELLS - 1) + 1
    return min(kind, _OTHER_MENU), page, min(ram.u8(_STATE), _LAST_STATE), cursor


def _option(ram: RamBlocks) -> int:
    if not ram.u8(_TEXT) or ram.u8(_TEXT_MODE) != _QUESTION:
        return 0
    option = ram.u8(_OPTION)
    return option + 2 if option < _OPTIONS else 1


def _enemies(ram: RamBlocks, x: int, y: int) -> list[int]:
    found: list[Entity] = enemies(ram)
    codes = [min(each.id + 1, ENEMY_CODES - 1) for each in nearest(found, x, y)[:NEAREST_ENEMIES]]
    return codes + [0] * (NEAREST_ENEMIES - len(codes))


def _own_object(ram: RamBlocks, x: int, y: int) -> tuple[float, float, float, float, int]:
    """The object in the first slot of the pages, excluding the player and a ridden animal."""
    first = _FIRST_OBJECT - WRAM_START
    wram = ram.wram
    enabled = wram[first::OBJECT_STRIDE]
    if enabled == _NONE_THERE:
        return _NOTHING
    there = [first + page * OBJECT_STRIDE for page in range(_OBJECTS) if enabled[page]]
    _, at = min(
        ((wram[at + OBJECT_X] - x) ** 2 + (wram[at + OBJECT_Y] - y) ** 2, at) for at in there
    )
    return (
        1.0,
        0.5 + (wram[at + OBJECT_X] - x) / _SPAN,
        0.5 + (wram[at + OBJECT_Y] - y) / _SPAN,
        wram[at + _COUNTER] / 255,
        item_code(wram[at + OBJECT_ID]),
    )
