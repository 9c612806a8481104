"""Put an item on a button, through the inventory if it is on neither A nor B.

Both games keep the items in a list of 16, show four per row, and swap a button's item with the one
under the cursor. The cursor has no common address: the first swap reveals it.
"""

from collections.abc import Generator

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import ITEM_SWORD, address
from rlaif.game.memory.predicates import is_fading, is_menu
from rlaif.game.skills.attend import take_control
from rlaif.game.skills.script import GiveUp, Part, tap, wait

_B, _A = address("wInventoryB"), address("wInventoryA")
_STORAGE, _CELLS = address("wInventoryStorage"), 16
_TREASURES = address("wObtainedTreasureFlags")
_MENU, _LOADED, _ACTIVE = (
    address("wOpenedMenuType"),
    address("wMenuLoadState"),
    address("wMenuActiveState"),
)
_PAGE = address("wInventorySubmenu")
_INVENTORY = _OPEN = _WAITS = 1
_LINE = 4
_SATCHEL = NAMED_ITEMS["seed_satchel"]
_SEEDS = range(NAMED_ITEMS["ember_seeds"], NAMED_ITEMS["mystery_seeds"] + 1)
_PRESSES = 24
_TRIES = 3
_STEPS_TO_OPEN = 12


def item_id(name: str) -> int:
    """The item id for a name of `USABLE_ITEMS`; for seeds that of the satchel."""
    item = NAMED_ITEMS[name]
    return _SATCHEL if item in _SEEDS else item


def button_of(ram: RamBlocks, item: int) -> Action | None:
    """The button of an item; None if it is on neither button."""
    return {ram.u8(_A): Action.A, ram.u8(_B): Action.B}.get(item)


def equip(ram: RamBlocks, name: str) -> Generator[Action, RamBlocks, tuple[Action, RamBlocks]]:
    """Put an item on B, unless it is on A or B; returns its button and the RAM.

    If the sword is on B the item goes on A, so that the sword stays available.
    """
    item = item_id(name)
    ram = yield from take_control(ram)
    button = button_of(ram, item)
    if button is None:
        _check_owned(ram, name, item)
        ram = yield from _open(ram)
        ram = yield from _put_on(ram, Action.A if ram.u8(_B) == ITEM_SWORD else Action.B, item)
        ram = yield from take_control(ram)
        button = button_of(ram, item)
        if button is None:
            raise GiveUp("no_progress", f"{name} could not be put on a button")
    return button, ram


def _check_owned(ram: RamBlocks, name: str, item: int) -> None:
    if not ram.bit(_TREASURES, item):
        raise GiveUp("impossible", f"{name} is not owned")
    if item not in _stored(ram):
        raise GiveUp("impossible", f"{name} cannot be put on a button")


def _stored(ram: RamBlocks) -> bytes:
    return ram.block(_STORAGE, _CELLS)


def _open(ram: RamBlocks) -> Part:
    for _ in range(_TRIES):
        ram = yield from tap(Action.START)
        for _ in range(_STEPS_TO_OPEN):
            if _listens(ram):
                return ram
            ram = yield Action.NOP
            if not is_menu(ram) and not is_fading(ram):
                break  # the press had no effect
    raise GiveUp("no_control", "the inventory does not open")


def _listens(ram: RamBlocks) -> bool:
    return (
        ram.u8(_MENU) == _INVENTORY
        and ram.u8(_LOADED) == _OPEN
        and ram.u8(_ACTIVE) == _WAITS
        and ram.u8(_PAGE) == 0
        and not is_fading(ram)
    )


def _put_on(ram: RamBlocks, button: Action, item: int) -> Part:
    cursor = None
    for press in range(_PRESSES):
        if cursor is not None:
            cell = _stored(ram).find(item)
            if cell < 0:
                return ram
            ram = yield from _move(ram, cursor, cell)
        before = _stored(ram)
        ram = yield from tap(button)
        ram = yield from _confirm(ram)
        if button_of(ram, item) == button:
            return ram
        changed = [cell for cell in range(_CELLS) if _stored(ram)[cell] != before[cell]]
        if changed:
            cursor = changed[0]
        else:  # an empty cell and an empty button: search for the cursor from the next cell
            cursor = None
            ram = yield from tap(Action.DOWN if press % _LINE == _LINE - 1 else Action.RIGHT)
    return ram


def _confirm(ram: RamBlocks) -> Part:
    """Accept the default seeds when satchel or slingshot ask for them."""
    for _ in range(_TRIES):
        if _listens(ram):
            break
        ram = yield from wait(ram, 2)
        if is_menu(ram) and not _listens(ram):
            ram = yield from tap(Action.A)
    return ram


def _move(ram: RamBlocks, cursor: int, cell: int) -> Part:
    down, right = cell // _LINE - cursor // _LINE, cell % _LINE - cursor % _LINE
    for count, forward, back in (
        (down, Action.DOWN, Action.UP),
        (right, Action.RIGHT, Action.LEFT),
    ):
        for _ in range(abs(count)):
            ram = yield from tap(forward if count > 0 else back)
    return ram
