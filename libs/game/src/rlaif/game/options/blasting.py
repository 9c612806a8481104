"""Bombs: set one, get away from it, wait for the blast."""

from rlaif.contracts.items import NAMED_ITEMS
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import OBJECT_ID, OBJECT_X, OBJECT_Y, address
from rlaif.game.navigation.goals import Place
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.walker import Walker, WalkSettings
from rlaif.game.options.attending import take_control
from rlaif.game.options.option import done
from rlaif.game.options.reach import reach_of
from rlaif.game.options.script import GiveUp, Part, Script, tap
from rlaif.game.options.using import changes, press

_ITEM_PAGES = range(0xD700, 0xDC00, 0x100)
"""Where things that were set or thrown lie; a bomb of the cartridge is the first."""

_GRAB = address("wLinkGrabState")
_CARRIES = 0x83
_SAFE = 36
"""Pixels from the bomb in one direction at least; the blast reaches 24."""

_REACH = 16
"""Pixels between the player and the bomb that he sets, at most."""

_SETTINGS = WalkSettings(place_tolerance=4)


def blast(ram: RamBlocks, button: Action) -> Script:
    """Done when the bomb is gone."""
    before = ram
    here = standing(ram)
    if reach_of(ram).nearest_away_from(here.x, here.y, _SAFE + _REACH) is None:
        raise GiveUp("impossible", "no place here that is far enough from a bomb")
    ram = yield from press(ram, button, "bombs")
    if ram.u8(_GRAB) == _CARRIES:  # he holds it over his head
        ram = yield from tap(button)
    ram = yield from _retreat(ram)
    while bomb_set(ram) is not None:
        ram = yield Action.NOP
    ram = yield from take_control(ram)
    return done(changes(before, ram))


def _retreat(ram: RamBlocks) -> Part:
    """Walk to the nearest place that the blast does not reach, or until it is over."""
    walker: Walker | None = None
    while (bomb := bomb_set(ram)) is not None:
        here = standing(ram)
        if max(abs(here.x - bomb[0]), abs(here.y - bomb[1])) >= _SAFE:
            return ram
        ram = yield from take_control(ram)
        if walker is None:
            refuge = reach_of(ram).nearest_away_from(*bomb, _SAFE + _SETTINGS.place_tolerance)
            if refuge is None:
                return ram
            walker = Walker(Place(here.room, *refuge), _SETTINGS)
        decision = walker.next(ram)
        if decision.done:
            return ram
        ram = yield decision.action
    return ram


def bomb_set(ram: RamBlocks) -> tuple[int, int] | None:
    """(x, y) of a bomb that was set and is not gone yet, else None."""
    for slot in _ITEM_PAGES:
        if ram.u8(slot) and ram.u8(slot + OBJECT_ID) == NAMED_ITEMS["bombs"]:
            return ram.u8(slot + OBJECT_X), ram.u8(slot + OBJECT_Y)
    return None
