"""The fast way to save and load states gives the bytes of PyBoy, and PyBoy takes them."""

import io
import logging
from pathlib import Path

import numba  # noqa: F401  # as in every process that trains or searches
import numpy as np
import pytest

from rlaif.game.machine import fast_states
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.fast_states import FastStates
from rlaif.game.machine.states import States

NOOK = Path(__file__).parents[2] / "data/nook/nook.gbc"
ROM_ONLY, MBC1, MBC2, MBC3_CLOCK, MBC5 = 0x00, 0x03, 0x06, 0x10, 0x1B
MOMENTS = 4


@pytest.fixture(scope="module")
def fast() -> FastStates:
    return FastStates()


@pytest.fixture(
    params=["embedded", "embedded with sound", "nook", "grey"]
    + [f"mapper {mapper:#x}" for mapper in (ROM_ONLY, MBC1, MBC2, MBC3_CLOCK, MBC5)]
)
def pair(request, rom_maker):
    """Two emulators of one game."""
    name, sound = request.param, request.param.endswith("sound")
    if name.startswith("mapper"):
        rom = rom_maker(cart_type=int(name.split()[1], 16))
    elif name == "grey":
        rom = rom_maker(colour=False)
    else:
        rom = load_cartridge(NOOK if name == "nook" else None).data
    emulators = [Emulator(rom, sound_emulated=sound) for _ in range(2)]
    yield emulators
    for emulator in emulators:
        emulator.close()


def of_pyboy(emulator: Emulator) -> bytes:
    buffer = io.BytesIO()
    emulator._pyboy.save_state(buffer)
    return cleaned(emulator, buffer.getvalue())


def cleaned(emulator: Emulator, state: bytes) -> bytes:
    return state if emulator._clock is None else emulator._clock.without_host_time(state)


def play(emulator: Emulator, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(1, 20))):
        emulator.step(int(rng.integers(8)), int(rng.integers(1, 9)), render=rng.random() < 0.1)


def test_states_are_those_of_pyboy_at_any_moment_and_load_both_ways(pair, fast):
    live, other = pair
    rng = np.random.default_rng(7)
    for _ in range(MOMENTS):
        play(live, rng)
        state = cleaned(live, fast.save(live._pyboy))
        assert state == of_pyboy(live)

        play(other, rng)
        fast.load(other._pyboy, state)
        loaded_fast = of_pyboy(other)
        other._pyboy.load_state(io.BytesIO(state))
        assert loaded_fast == of_pyboy(other)
        other.load_state(state)
        for action in rng.integers(8, size=5):
            live.step(int(action), 4)
            other.step(int(action), 4)
            assert live.ram_digest() == other.ram_digest()


def test_what_pyboy_refuses_is_refused_and_a_good_state_loads_afterwards(rom_maker, fast):
    colour, grey = (Emulator(rom_maker(colour=value)) for value in (True, False))
    state = fast.save(colour._pyboy)
    with pytest.raises(Exception, match="CGB-mode"):
        fast.load(grey._pyboy, state)
    with pytest.raises(ValueError, match="ends after 5000 bytes"):
        fast.load(colour._pyboy, state[:5000])
    fast.load(colour._pyboy, state)
    assert of_pyboy(colour) == state
    for emulator in (colour, grey):
        emulator.close()


def test_the_pinned_pyboy_is_saved_fast_from_the_second_state_on(emulator, monkeypatch):
    states = States()
    first = states.save(emulator._pyboy)
    monkeypatch.setattr(io, "BytesIO", None)
    assert states.save(emulator._pyboy) == first
    states.load(emulator._pyboy, first)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (fast_states, "_PYBOY", "2.8.2"),
        (fast_states, "_WRAPPED", {0}),
        (FastStates, "save", lambda *_: b"other bytes"),
    ],
)
def test_with_another_pyboy_its_own_functions_are_used_and_that_is_logged(
    emulator, monkeypatch, caplog, module, name, value
):
    monkeypatch.setattr(module, name, value)
    states = States()
    with caplog.at_level(logging.WARNING):
        assert states.save(emulator._pyboy) == states.save(emulator._pyboy) == of_pyboy(emulator)
    states.load(emulator._pyboy, of_pyboy(emulator))
    assert len(caplog.records) == 1
