import hashlib

import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import STATE_VERSION, BadRomError, Emulator, SaveStateError

JOYPAD, A_FRAMES, UP_FRAMES = 0xFF82, 0xFF83, 0xFF84
NOTHING_PRESSED = 0xFF


def peek(emulator, address):
    return emulator.read(address, address + 1)[0]


def test_a_direction_is_held_for_the_whole_step_and_on_into_the_same_step(emulator):
    for _ in range(3):
        emulator.step(Action.UP, 4)
    assert peek(emulator, UP_FRAMES) == 12
    assert peek(emulator, JOYPAD) == 0xBF


def test_the_next_action_releases_a_direction(emulator):
    emulator.step(Action.UP, 4)
    emulator.step(Action.NOP, 4)
    assert peek(emulator, UP_FRAMES) == 4
    assert peek(emulator, JOYPAD) == NOTHING_PRESSED


def test_a_button_is_released_for_the_last_frame_so_that_a_repeat_presses_again(emulator):
    for repeat in (1, 2):
        emulator.step(Action.A, 4)
        assert peek(emulator, A_FRAMES) == 3 * repeat
        assert peek(emulator, JOYPAD) == NOTHING_PRESSED


def test_with_one_frame_a_step_a_button_is_held_for_that_frame(emulator):
    emulator.step(Action.A, 1)
    assert peek(emulator, A_FRAMES) == 1
    emulator.step(Action.NOP, 1)
    assert (peek(emulator, A_FRAMES), peek(emulator, JOYPAD)) == (1, NOTHING_PRESSED)


def test_tick_holds_nothing(emulator):
    emulator.step(Action.UP, 4)
    emulator.tick(5)
    assert peek(emulator, UP_FRAMES) == 4


def test_a_loaded_state_holds_nothing_although_a_direction_was_held_in_it(emulators):
    live, other = emulators(), emulators()
    live.step(Action.UP, 4)
    other.load_state(live.save_state())
    before = peek(other, UP_FRAMES)
    other.tick(5)
    assert peek(other, UP_FRAMES) == before
    assert peek(other, JOYPAD) == NOTHING_PRESSED


@pytest.mark.parametrize("held", [Action.UP, Action.A, Action.NOP])
@pytest.mark.parametrize("following", [Action.UP, Action.LEFT, Action.A])
def test_play_from_a_state_equals_play_from_the_original(emulators, held, following):
    live, other = emulators(), emulators()
    live.step(held, 4)
    state = live.save_state()
    other.load_state(state)
    for action in (following, Action.NOP, following):
        live.step(action, 4)
        other.step(action, 4, render=True)
        assert live.ram_digest() == other.ram_digest()


def test_cartridge_ram_is_shared_with_pyboy_on_the_pinned_version(emulator):
    # Without it a digest reads 8 KiB as a list: 400 us instead of 110.
    assert emulator._cart_ram is not None
    emulator._pyboy.memory[0, 0xA123] = 0x5A
    state = emulator.save_state()
    emulator._pyboy.memory[0, 0xA123] = 0xA5
    assert emulator._cart_ram[0x123] == 0xA5
    emulator.load_state(state)
    assert emulator._cart_ram[0x123] == 0x5A
    assert emulator._cart_ram.tobytes() == emulator.read_bank(0, 0xA000, 0xC000)


def test_a_banked_read_may_touch_the_last_byte(rom_maker):
    emulator = Emulator(rom_maker())
    emulator.tick(20_000)
    for bank in (1, 3, 7):
        whole = emulator.read_bank(bank, 0xD000, 0xE000)
        assert len(whole) == 0x1000
        assert emulator.read_bank(bank, 0xDFFF, 0xE000) == whole[-1:]
        assert bytes(emulator._pyboy.memory[bank, 0xD000:0xDFFF]) == whole[:-1]
    emulator.close()


def test_bank_one_is_read_whichever_bank_the_game_has_selected(rom_maker):
    emulator = Emulator(rom_maker())
    emulator.tick(200)
    # The tiny ROM selects another bank every frame.
    seen = set()
    for _ in range(40):
        emulator.tick(1)
        seen.add(peek(emulator, 0xFF70) & 7)
        assert emulator.wram()[0x1000:] == emulator.read_bank(1, 0xD000, 0xE000)
    assert len(seen) > 3
    emulator.close()


def test_nothing_is_written_or_read_beside_the_rom(tmp_path, tiny_rom):
    path = tmp_path / "game.gbc"
    path.write_bytes(tiny_rom)
    path.with_suffix(".gbc.ram").write_bytes(b"\x55" * 0x2000)
    emulator = Emulator(path)
    emulator.tick(100)
    assert emulator.read_bank(0, 0xA010, 0xA012) != b"\x55\x55"
    emulator.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["game.gbc", "game.gbc.ram"]
    assert path.with_suffix(".gbc.ram").read_bytes() == b"\x55" * 0x2000


def test_the_screen_is_a_copy_of_the_rendered_frame(emulator):
    emulator.tick(1, render=True)
    screen = emulator.screen()
    assert (screen.shape, screen.dtype) == ((144, 160, 3), "uint8")
    kept = hashlib.sha256(screen.tobytes()).hexdigest()
    emulator.tick(30, render=True)
    assert hashlib.sha256(screen.tobytes()).hexdigest() == kept


@pytest.mark.parametrize("version", [STATE_VERSION - 1, STATE_VERSION + 1])
def test_a_state_of_another_pyboy_is_refused_with_both_versions(emulator, version):
    state = bytes([version]) + emulator.save_state()[1:]
    with pytest.raises(SaveStateError, match=f"version {version}.*version {STATE_VERSION}"):
        emulator.load_state(state)


@pytest.mark.parametrize("length", [0, 1, 10, 5_000, -1])
def test_a_cut_state_is_refused(emulator, length):
    state = emulator.save_state()
    with pytest.raises(SaveStateError):
        emulator.load_state(state[:length])
    emulator.load_state(state)


@pytest.mark.parametrize("rom", [b"", b"too short", bytes(0x8000)])
def test_a_file_that_is_not_a_rom_is_refused(rom):
    with pytest.raises(BadRomError, match="cannot run"):
        Emulator(rom)
