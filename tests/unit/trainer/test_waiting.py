from typing import Any

import pytest

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.starts.waiting import plays_alone, wait_for_player


def wram_of(**changes):
    wram = bytearray(0x2000)
    facts = {
        "wGameState": b"\x02", "wCutsceneIndex": b"\x01", "wSavefileString": b"Z11216-0",
        "w1Link_state": b"\x01", "wScrollMode": b"\x01", "wLinkHealth": b"\x08",
    } | changes  # fmt: skip
    for name, value in facts.items():
        at = address(name.replace("1Link_", "1Link.")) - 0xC000
        wram[at : at + len(value)] = value
    return bytes(wram)


class Machine:
    """An emulator whose player has control again after some frames."""

    has_banks = False

    def __init__(self, frames, **alone):
        self._frames, self._alone = frames, alone
        self.drawn = []

    def tick(self, frames, *, render=False):
        self._frames -= frames
        self.drawn.append(render)

    def wram(self):
        return wram_of(**self._alone) if self._frames > 0 else wram_of()


@pytest.mark.parametrize(
    "alone",
    [{"wScrollMode": b"\x08"}, {"wPaletteThreadMode": b"\x01"}, {"wDisabledObjects": b"\x01"},
     {"w1Link_state": b"\x02"}, {"wCutsceneIndex": b"\x03"}],
)  # fmt: skip
def test_scrolling_fading_and_scenes_play_alone(alone):
    assert plays_alone(RamBlocks(wram_of(**alone)))


@pytest.mark.parametrize(
    "wanted",
    [{}, {"wTextIsActive": b"\x01"}, {"wOpenedMenuType": b"\x01", "wPaletteThreadMode": b"\x01"},
     {"wLinkHealth": b"\x00"}, {"wGameState": b"\x01"}],
)  # fmt: skip
def test_control_texts_menus_death_and_the_title_do_not(wanted):
    assert not plays_alone(RamBlocks(wram_of(**wanted)))


def test_it_waits_for_as_many_frames_as_it_takes():
    machine: Any = Machine(37, wScrollMode=b"\x08")
    assert wait_for_player(machine, RamBlocks(machine.wram()), 240, render=True) == 37
    assert machine.drawn == [True] * 37
    assert not plays_alone(RamBlocks(machine.wram()))
