import hashlib

import pytest

from rlaif.contracts.game.observation import LAYOUT, LAYOUT_VERSION, OBSERVATION_SIZE, slot_index

FROZEN_V1 = "01cc06"


def test_there_are_128_slots_with_unique_names_in_order():
    assert LAYOUT_VERSION == "v1"
    assert [slot.index for slot in LAYOUT] == list(range(OBSERVATION_SIZE)) == list(range(128))
    assert len({slot.name for slot in LAYOUT}) == 128


def test_an_unknown_slot_names_the_layout():
    with pytest.raises(KeyError, match="layout v1 has no slot 'mana'"):
        slot_index("mana")


def test_version_1_has_not_changed():
    text = ";".join(f"{s.index}:{s.name}:{s.scale:g}" for s in LAYOUT)
    # Weights of published networks depend on it: on a change, make a version 2 instead.
    assert hashlib.sha256(text.encode()).hexdigest()[:6] == FROZEN_V1
