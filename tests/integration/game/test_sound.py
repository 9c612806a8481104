"""The embedded game has sound for who listens, and plays the same for who does not."""

import json
import re

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.play.session import PlayedEmulator

FRAMES, LOOK_EVERY = 3000, 50
"""The beginning of the walkthrough: a tune, talk, the blade, a house, a fight."""

TITLE_FRAMES = 600


def played(cartridge_folder, *, sound):
    """Digests of RAM on the way, and the loudness of each 50 frames."""
    emulator = PlayedEmulator(load_cartridge().data, sound_emulated=sound)
    steps = json.loads((cartridge_folder / "walkthrough.json").read_text())["steps"]
    digests, loudness, heard = [], [], 0
    for number, button in enumerate(b for b, n in steps for _ in range(n)):
        if number == FRAMES:
            break
        action = Action[button]
        emulator.frame(frozenset() if action == Action.NOP else frozenset({button.lower()}))
        if sound:
            heard = max(heard, int(np.ptp(emulator.samples().astype(int))))
        if number % LOOK_EVERY == 0:
            digests.append(emulator.ram_digest())
            loudness.append(heard)
            heard = 0
    emulator.close()
    return digests, loudness


def test_ram_is_the_same_with_the_sound_chip_and_without(cartridge_folder):
    silent, _ = played(cartridge_folder, sound=False)
    loud, loudness = played(cartridge_folder, sound=True)
    assert loud == silent
    audible = sum(heard > 0 for heard in loudness)
    assert audible >= 0.8 * len(loudness)


def test_training_does_not_need_the_sound_chip():
    assert not load_cartridge().needs_sound


def test_no_register_of_the_sound_chip_is_ever_read(cartridge_folder):
    registers = re.compile(r"\b(rNR\d\d|WAVE_RAM\[\w+\])\s*(=(?!=))?")
    uses = [
        use
        for path in sorted((cartridge_folder / "src").glob("*.c"))
        for use in registers.findall(path.read_text())
    ]
    assert len(uses) > 20
    assert all(written for _, written in uses)


def test_the_title_waits_for_a_button_and_asks_for_one():
    emulator = PlayedEmulator(load_cartridge().data)
    for _ in range(120):
        emulator.frame(frozenset())
    seen = set()
    for _ in range(TITLE_FRAMES):
        emulator.frame(frozenset(), render=True)
        seen.add(emulator.screen()[16 * 8 : 17 * 8, 40:128].tobytes())
        assert emulator.read(0xC2EE, 0xC2EF)[0] == 0
    assert len(seen) >= 2
    for _ in range(60):
        emulator.frame(frozenset({"start"}))
    assert emulator.read(0xC2EE, 0xC2EF)[0] == 2
    emulator.close()


@pytest.mark.parametrize("sound", [False, True])
def test_samples_are_there_only_with_sound(sound):
    emulator = PlayedEmulator(load_cartridge().data, sound_emulated=sound)
    emulator.frame(frozenset())
    assert (len(emulator.samples()) > 0) == sound
    emulator.close()
