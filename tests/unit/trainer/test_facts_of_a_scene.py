"""The environment looks at the RAM again only when the scene changed: that must miss nothing."""

import numpy as np
import pytest

from rlaif.game.encoder.numba_look import Encoder
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.starts.waiting import plays_alone
from rlaif.trainer.play.facts import read_facts

SIZE = 0x2000


def playing(seed, zeros):
    rng = np.random.default_rng(seed)
    wram = rng.integers(0, 256, SIZE, dtype=np.uint8)
    wram[rng.random(SIZE) < zeros] = 0
    for name, value in (
        ("wGameState", b"\x02\x01"), ("wSavefileString", b"Z11216-0"), ("w1Link.state", b"\x01"),
        ("wScrollMode", b"\x01"), ("wLinkHealth", b"\x08\x10"), ("wTextIsActive", b"\x00\x00"),
        ("wOpenedMenuType", b"\x00"), ("wPaletteThreadMode", b"\x00"),
        ("wLinkDeathTrigger", b"\x00"), ("wLinkForceState", b"\x00"),
        ("wDisabledObjects", b"\x00"), ("wUseSimulatedInput", b"\x00"), ("w1Link.id", b"\x00"),
    ):  # fmt: skip
        at = address(name) - 0xC000
        wram[at : at + len(value)] = np.frombuffer(value, dtype=np.uint8)
    return wram


@pytest.mark.parametrize(("seed", "zeros"), [(1, 1.0), (2, 0.5), (3, 0.9)])
def test_facts_depend_on_the_scene_and_the_position_alone(seed, zeros):
    encoder, row = Encoder(), np.zeros(128, dtype=np.float32)
    base = playing(seed, zeros)
    before = RamBlocks(base.tobytes())
    facts = read_facts(before)
    for at in range(SIZE):
        changed = base.copy()
        changed[at] ^= 0x55
        after = RamBlocks(changed.tobytes())
        for ram in (before, after):
            encoder.encode_into(ram.array(), np.frombuffer(ram.dungeon_layout, np.uint8), row)
        if encoder.scene is None:
            moved = facts._replace(x=encoder.x, y=encoder.y)
            assert moved == read_facts(after), hex(0xC000 + at)
            assert plays_alone(after) == plays_alone(before), hex(0xC000 + at)
        elif not encoder.progressed:
            assert read_facts(after).progress == facts.progress, hex(0xC000 + at)
