from typing import Any

import pytest

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.starts.waiting import plays_alone, wait_for_player
from rlaif.testing.data.written_ram import written_ram


def ram_of(changes):
    return written_ram(*changes.items())


class Machine:
    """An emulator whose player has control again after some frames."""

    has_banks = False

    def __init__(self, frames, alone):
        self._frames, self._alone = frames, alone
        self.drawn = []

    def tick(self, frames, *, render=False):
        self._frames -= frames
        self.drawn.append(render)

    def wram(self):
        return ram_of(self._alone if self._frames > 0 else {}).wram


@pytest.mark.parametrize(
    "alone",
    [{"wScrollMode": b"\x08"}, {"wPaletteThreadMode": b"\x01"}, {"wDisabledObjects": b"\x01"},
     {"w1Link.state": b"\x02"}, {"wCutsceneIndex": b"\x03"}],
)  # fmt: skip
def test_scrolling_fading_and_scenes_play_alone(alone):
    assert plays_alone(ram_of(alone))


@pytest.mark.parametrize(
    "wanted",
    [{}, {"wTextIsActive": b"\x01"}, {"wOpenedMenuType": b"\x01", "wPaletteThreadMode": b"\x01"},
     {"wLinkHealth": b"\x00"}, {"wGameState": b"\x01"}],
)  # fmt: skip
def test_control_texts_menus_death_and_the_title_do_not(wanted):
    assert not plays_alone(ram_of(wanted))


def test_it_waits_for_as_many_frames_as_it_takes():
    machine: Any = Machine(37, {"wScrollMode": b"\x08"})
    assert wait_for_player(machine, RamBlocks(machine.wram()), 240, render=True) == 37
    assert machine.drawn == [True] * 37
    assert not plays_alone(RamBlocks(machine.wram()))
