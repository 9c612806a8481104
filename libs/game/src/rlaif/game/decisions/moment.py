"""The two questions of every base step, answered from a few bytes that were seen before."""

from operator import itemgetter
from typing import Any

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.game.memory.predicates import has_control

_DECIDE = (
    "wGameState", "wCutsceneIndex", "wOpenedMenuType", "w1Link.state", "wPaletteThreadMode",
    "wScrollMode", "wLinkDeathTrigger", "wLinkForceState", "wTextIsActive", "wDisabledObjects",
    "wUseSimulatedInput",
)  # fmt: skip
_SAVEFILE = address("wSavefileString") - WRAM_START
_BYTES: Any = itemgetter(
    *(address(name) - WRAM_START for name in _DECIDE),
    slice(_SAVEFILE, _SAVEFILE + len(SAVEFILE_STRING)),
)
_MOST = 4096
_known: dict[tuple[Any, ...], bool] = {}

_HERE = slice(address("wActiveGroup") - WRAM_START, address("wActiveRoom") - WRAM_START + 1)


def listens(ram: RamBlocks) -> bool:
    """What `has_control` says, for a fifth of the time: 19 bytes decide it."""
    seen = _BYTES(ram.wram)
    answer = _known.get(seen)
    if answer is None:
        if len(_known) >= _MOST:
            _known.clear()
        answer = _known[seen] = has_control(ram)
    return answer


def place_of(ram: RamBlocks) -> bytes:
    """What differs between any two rooms: group to room, to be compared alone."""
    place = ram.wram[_HERE]
    return place[:1] + place[-1:]
