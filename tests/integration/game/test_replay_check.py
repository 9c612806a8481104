"""The check of any ROM, on a zoo of ROMs that do what real games do and this project's does not."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.machine.rom_checks import header_checksum
from rlaif.game.replay_check.checks import CheckPlan, check_rom_replays, main

PLAN = CheckPlan(
    segments=4,
    steps=20,
    boot_frames=90,
    boot_presses=6,
    trace_steps=50,
    save_points=4,
    tampered=2,
    seed=3,
)

VBLANK = "f5 f081 3c e081 f1 d9"  # count frames in 0xFF81
START = (
    "f3 31feff"  # di; ld sp, 0xFFFE
    "3e0a ea0000"  # ld a, 10; ld (0), a: switch cartridge RAM on
    "3e01 e0ff fb"  # interrupts: vertical blank only
)
HALT = "76 00"
PAD = (
    "3e20 e000 f000 f000 e60f cb37 47"  # d-pad into the high nibble of b
    "3e10 e000 f000 f000 e60f b0 47"  # buttons into the low nibble
)
MIX = "f080 07 a8 e080"  # 0xFF80 = a = rotate(0xFF80) ^ b
STORE = "77"  # (hl) = a
TO_CARTRIDGE = "16a0 5d 12"  # (0xA000 + l) = a
SELECT_RAM_BANK = "f081 e603 ea0040"  # cartridge RAM bank = frame & 3


def rom(body, *, setup="", mapper=0x00, ram_size=0, colour=False, wait=HALT):
    """A 32 KiB ROM: once `setup`, then for each frame `body`, with hl running through work RAM."""
    data = bytearray(0x8000)
    vblank = bytes.fromhex(VBLANK)
    data[0x40 : 0x40 + len(vblank)] = vblank
    data[0x100:0x104] = bytes.fromhex("00 c35001")
    data[0x134:0x138] = b"TINY"
    data[0x143] = 0xC0 if colour else 0
    data[0x147], data[0x149] = mapper, ram_size
    loop = bytes.fromhex(wait + PAD + MIX + body + STORE + "23 7c fee0")
    back = len(loop) + 2
    wrap = bytes([0x20, 0x100 - back, 0x18, 0x100 - back - 4])
    code = bytes.fromhex(START + setup) + bytes.fromhex("21 00c0") + loop + wrap
    data[0x150 : 0x150 + len(code)] = code
    for byte in data[0x134:0x14D]:
        data[0x14D] = (data[0x14D] - byte - 1) & 0xFF
    return bytes(data)


LATCH = "3e00 ea0060 3e01 ea0060"
ZOO = {
    "a grey game without a mapper": rom(""),
    "a game that waits for nothing and mixes DIV in": rom("4f f004 81", wait=""),
    "MBC1 with four RAM banks": rom(
        SELECT_RAM_BANK + "f080" + TO_CARTRIDGE, setup="3e01 ea0060", mapper=0x03, ram_size=3
    ),
    "MBC2 with its own RAM": rom(TO_CARTRIDGE, mapper=0x06),
    "colour, all work RAM banks, MBC5 with four RAM banks": rom(
        "e070" + SELECT_RAM_BANK + "f080" + TO_CARTRIDGE, mapper=0x1B, ram_size=3, colour=True
    ),
    "a clock": rom(
        LATCH + "3e08 ea0040 fa00a0 a8", mapper=0x10, ram_size=2
    ),
    "a clock that the game sets and stops": rom(
        LATCH + "3e08 ea0040 fa00a0 a8", mapper=0x10, ram_size=3,
        setup="3e0a ea0040 3e17 ea00a0 3e09 ea0040 3e3b ea00a0 3e08 ea0040 3e39 ea00a0",
    ),
    "a game that turns the screen off": rom(
        # every 32nd frame: LCD off, count down from 0x2000, LCD on
        "f081 e61f 2014 f040 e67f e040 110020 1b 7ab3 20fb f040 f680 e040 f080"
    ),
    "a game that reads the sound chip": rom(
        "f081 e60f 2004 3ec0 e014 f026 a8", setup="3e80 e026 3ef0 e012 3e3e e011"
    ),
}  # fmt: skip


def cartridge_of(data, *, sound=False):
    sha256 = hashlib.sha256(data).hexdigest()
    return Cartridge(Path("tiny.gb"), data, sha256, "TINY", is_oracle_of_seasons=sound)


def check(data, plan=PLAN, *, sound=False):
    said: list[str] = []
    waited: list[float] = []
    cartridge = cartridge_of(data, sound=sound)
    report = check_rom_replays(cartridge, plan, said.append, waited.append)
    return report, {finding.check: finding for finding in report.findings}, said


@pytest.mark.parametrize("name", ZOO)
def test_a_rom_of_the_zoo_is_proved(name):
    report, findings, said = check(ZOO[name])
    assert report.passed, report.table()
    assert findings["segments"].detail.startswith("4 of 4")
    assert findings["changed actions are noticed"].detail.startswith("in 2 of 2")
    assert len(said) > len(findings)


def test_a_game_that_ignores_every_button_passes_with_a_note():
    report, findings, _ = check(
        rom("f081").replace(bytes.fromhex("a8e080"), bytes.fromhex("00e080"))
    )
    assert report.passed
    assert findings["changed actions are noticed"].result == "note"


def test_a_clock_that_follows_the_host_is_found_out(monkeypatch):
    monkeypatch.setattr("rlaif.game.machine.emulator.has_clock", lambda rom: False)
    report, findings, _ = check(ZOO["a clock"])
    assert not report.passed
    assert findings["save and load at random places"].result == "failed"
    assert findings["segments"].result == "failed"


def test_an_emulator_whose_drawing_changes_memory_is_found_out(monkeypatch):
    step = Emulator.step
    noise = iter(range(10_000_000))

    def noisy(self, action, frame_skip, **options):
        step(self, action, frame_skip, **options)
        if options.get("render"):
            self._pyboy.memory[0xC123] = next(noise) & 0xFF

    monkeypatch.setattr(Emulator, "step", noisy)
    report, findings, _ = check(ZOO["a grey game without a mapper"])
    assert not report.passed
    assert findings["segments"].result == "failed"


STILL = (
    rom("")
    .replace(bytes.fromhex("e080" + STORE), bytes.fromhex("000000"))
    .replace(bytes.fromhex(VBLANK), bytes.fromhex("d9 00000000000000"))
)
"""It reads the buttons and keeps nothing of them, and counts no frames."""


def test_a_game_whose_ram_never_changes_is_not_proved():
    report, findings, _ = check(STILL)
    assert not report.passed
    still = findings["segments: liveliness"]
    assert still.result == "failed"
    assert "nothing is proved: in none of 4 segments did the game's RAM change" in still.detail
    assert "replays are proved" not in report.table()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_game_is_played_with_the_sound_setting_that_training_uses(monkeypatch, wanted):
    used = []
    init = Emulator.__init__

    def noted(self, rom, *, sound_emulated=False):
        used.append(sound_emulated)
        init(self, rom, sound_emulated=sound_emulated)

    monkeypatch.setattr(Emulator, "__init__", noted)
    report, _, _ = check(ZOO["a game that reads the sound chip"], sound=wanted)
    assert report.passed, report.table()
    assert set(used) == {wanted}


@pytest.fixture
def booted():
    emulators = []

    def boot(name):
        emulators.append(Emulator(ZOO[name]))
        emulators[-1].tick(30)
        return emulators[-1]

    yield boot
    for emulator in emulators:
        emulator.close()


@pytest.mark.parametrize("frames", [2, 7, 60, 333])
@pytest.mark.parametrize("name", ZOO)
def test_frames_at_once_are_frames_one_by_one(booted, name, frames):
    once, singly = booted(name), booted(name)
    once.tick(frames)
    for _ in range(frames):
        singly.tick(1)
    assert once.ram_digest() == singly.ram_digest()


def test_a_changed_byte_in_any_memory_changes_the_digest(booted):
    emulator = booted("colour, all work RAM banks, MBC5 with four RAM banks")
    places: list[tuple[int | None, int]] = [
        (None, 0xC000),
        (None, 0xCFFF),
        (None, 0xFF80),
        (None, 0xFFFE),
    ]
    places += [(bank, where) for bank in range(1, 8) for where in (0xD000, 0xDFFF)]
    places += [(bank, where) for bank in range(4) for where in (0xA000, 0xBFFF)]
    before = emulator.ram_digest()
    for bank, where in places:
        kept = emulator.peek(bank, where)
        emulator.poke(bank, where, kept ^ 0xFF)
        assert emulator.ram_digest() != before, (bank, hex(where))
        emulator.poke(bank, where, kept)
    assert emulator.ram_digest() == before


@pytest.mark.parametrize(
    "option", ["--segments=0", "--segments=-3", "--steps=0", "--tampered=0", "--save-points=0"]
)
def test_a_plan_that_proves_nothing_is_refused(capsys, option):
    assert main([option]) == 2
    printed = capsys.readouterr()
    assert f"error: {option.replace('=', ' ')} leaves nothing to prove" in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_what_the_trainer_refuses_is_refused(tmp_path, capsys):
    ages = bytearray(rom("").ljust(0x8000 << 5, b"\xff"))
    ages[0x134:0x143] = b"ZELDA NAYRUAZ8E"
    ages[0x148] = 5
    ages[0x14D] = header_checksum(ages)
    path = tmp_path / "ages.gbc"
    path.write_bytes(ages)
    assert main([str(path)]) == 2
    assert "Oracle of Ages (game code AZ8E)" in capsys.readouterr().err


def test_the_emulator_s_own_log_is_not_on_standard_output(tmp_path):
    path = tmp_path / "clock.gb"
    path.write_bytes(ZOO["a clock"])
    done = subprocess.run(
        [sys.executable, "-m", "rlaif.command", "inspect", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("ROM         TINY")
    assert "pyboy" not in done.stdout


def test_the_command_prints_a_table_and_one_line_of_json(tmp_path):
    path = tmp_path / "tiny.gb"
    path.write_bytes(ZOO["a clock"])
    small = ["--segments", "2", "--steps", "10", "--save-points", "3", "--tampered", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "rlaif.command", "replay-check", str(path), *small],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    report = json.loads(lines[-1])
    assert report["passed"] is True
    assert report["title"] == "TINY"
    assert any("replays are proved" in line for line in lines)
