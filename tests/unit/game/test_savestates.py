import pytest

from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import STATE_VERSION, Emulator, SaveStateError
from rlaif.game.starts.savestates import (
    SMALLEST_STATE_BYTES,
    WrongStateError,
    is_state,
    load_checked,
    load_state_file,
)


@pytest.fixture(scope="module")
def embedded():
    return load_cartridge()


@pytest.fixture(scope="module")
def embedded_state(embedded):
    emulator = Emulator(embedded.data)
    emulator.tick(120)
    state = emulator.save_state()
    emulator.close()
    return state


@pytest.fixture
def start():
    started = []

    def boot(rom, frames=30):
        emulator = Emulator(rom)
        emulator.tick(frames)
        started.append(emulator)
        return emulator

    yield boot
    for emulator in started:
        emulator.close()


@pytest.fixture
def other_game(tmp_path, rom_maker):
    def make(**header):
        path = tmp_path / "other.gbc"
        path.write_bytes(rom_maker(**header))
        return load_cartridge(path)

    return make


def as_oracle(cartridge):
    return Cartridge(cartridge.path, cartridge.data, cartridge.sha256, "ZELDA DIN", True)


def test_a_state_of_this_game_is_loaded(tmp_path, embedded, embedded_state, start):
    path = tmp_path / "game.state"
    path.write_bytes(embedded_state)
    emulator = start(embedded.data)
    assert load_state_file(emulator, embedded, path) == embedded_state
    assert emulator.save_state() == embedded_state


def test_states_and_roms_are_distinguished(embedded, embedded_state):
    assert is_state(embedded_state)
    assert is_state(bytes([15]) + embedded_state[1:])
    assert not is_state(embedded.data)
    assert not is_state(b"hello")


@pytest.mark.parametrize(
    "start_of_file",
    [bytes([STATE_VERSION - 1]), bytes([STATE_VERSION + 1]), b"\x89PNG", b"\x1f\x8b", b"PK\3\4"],
    ids=["older", "newer", "mGBA", "VisualBoyAdvance", "ZIP"],
)
def test_a_state_of_another_emulator_is_refused(embedded, embedded_state, start, start_of_file):
    state = start_of_file + embedded_state[len(start_of_file) :]
    match = rf"my\.state: .* reads version {STATE_VERSION}"
    with pytest.raises(SaveStateError, match=match):
        load_checked(start(embedded.data), embedded, state, "my.state")


@pytest.mark.parametrize(
    ("string", "is_oracle", "match"),
    [
        (b"Z21216-0", True, "state of Oracle of Ages, not of ZELDA DIN"),
        (b"Z11216-0", False, "state of Oracle of Seasons or the embedded game, not of TINY"),
    ],
)
def test_a_state_of_an_oracle_game_is_refused_on_one_that_cannot_have_written_it(
    start, other_game, string, is_oracle, match
):
    cartridge = as_oracle(other_game()) if is_oracle else other_game()
    foreign = start(cartridge.data)
    for at, byte in enumerate(string, start=0xC5B2):
        foreign._pyboy.memory[at] = byte
    state = foreign.save_state()
    with pytest.raises(WrongStateError, match=match):
        load_checked(start(cartridge.data), cartridge, state, "my.state")


@pytest.mark.parametrize("string", [bytes(8), b"Z11216-0"])
def test_a_state_without_a_sign_of_another_game_is_taken(start, other_game, string):
    cartridge = as_oracle(other_game())
    emulator = start(cartridge.data)
    for at, byte in enumerate(string, start=0xC5B2):
        emulator._pyboy.memory[at] = byte
    state = emulator.save_state()
    emulator.tick(10)
    load_checked(emulator, cartridge, state, "my.state")
    assert emulator.save_state() == state


def test_a_state_of_the_other_colour_mode_is_refused(embedded, start, other_game):
    state = start(other_game(colour=False).data).save_state()
    with pytest.raises(SaveStateError, match="not a save state of this game and emulator"):
        load_checked(start(embedded.data), embedded, state, "my.state")


def test_a_state_with_other_cartridge_ram_is_refused(embedded, start, other_game):
    cartridge = other_game()
    state = start(embedded.data).save_state() + bytes(24 * 1024)
    with pytest.raises(WrongStateError, match="24 KiB more cartridge RAM than TINY"):
        load_checked(start(cartridge.data), cartridge, state, "my.state")


def test_a_cut_state_is_refused(embedded, embedded_state, start):
    emulator = start(embedded.data)
    for length in (SMALLEST_STATE_BYTES - 1, SMALLEST_STATE_BYTES + 7, len(embedded_state) - 1):
        with pytest.raises(SaveStateError, match=r"my\.state"):
            load_checked(emulator, embedded, embedded_state[:length], "my.state")
