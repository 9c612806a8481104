"""The table of sources in docs/observation.md names what the encoder reads."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from rlaif.contracts.game.observation import LAYOUT
from rlaif.game.encoder.reference import encode
from rlaif.game.memory.memory_map import address

DOCS = Path(__file__).parents[3] / "docs"
sources_of = runpy.run_path(str(DOCS / "observation_sources.py"))["sources_of"]


@pytest.mark.parametrize("slot", LAYOUT, ids=lambda slot: slot.name)
def test_every_slot_has_sources_and_they_are_in_the_memory_map(slot):
    names = sources_of(slot.name)
    assert names
    for name in names:
        assert name.startswith("objects ") or address(name) >= 0xC000


@pytest.mark.parametrize(
    ("symbol", "byte"),
    [("wLinkHealth", 3), ("wRoomStateModifier", 3), ("wNumRupees", 3), ("w1Link.zh", 0xF8)],
)
def test_a_byte_moves_only_the_slots_that_name_it(make_ram, symbol, byte):
    base, changed = make_ram(), make_ram((symbol, byte))
    moved = np.flatnonzero(encode(base) != encode(changed))
    assert moved.size
    assert all(symbol in sources_of(LAYOUT[slot].name) for slot in moved)
