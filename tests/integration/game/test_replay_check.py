"""The check of any ROM, on a zoo of ROMs that do what real games do and this project's does not."""

import json
import subprocess
import sys

import pytest

from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.replay_check.plan import CheckPlan
from rlaif.game.replay_check.run import check_rom_replays

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


def check(data, plan=PLAN):
    said: list[str] = []
    waited: list[float] = []
    report = check_rom_replays(data, plan, said.append, waited.append)
    return report, {finding.check: finding for finding in report.findings}, said


@pytest.mark.parametrize("name", ZOO)
def test_a_rom_of_the_zoo_is_proved(name):
    report, findings, said = check(ZOO[name])
    assert report.passed, report.table()
    assert findings["segments"].detail.startswith("4 of 4")
    assert findings["changed actions are noticed"].detail.startswith("in 2 of 2")
    assert findings["forged captures are refused"].detail.startswith("12 of 12")
    assert len(said) > len(findings)


def test_ram_that_depends_on_the_sound_chip_is_told():
    _, findings, _ = check(ZOO["a game that reads the sound chip"])
    assert "depends on it" in findings["sound setting"].detail
    _, findings, _ = check(ZOO["a grey game without a mapper"])
    assert "the same" in findings["sound setting"].detail


def test_a_game_that_ignores_every_button_passes_with_a_note():
    report, findings, _ = check(
        rom("f081").replace(bytes.fromhex("a8e080"), bytes.fromhex("00e080"))
    )
    assert report.passed
    assert findings["changed actions are noticed"].result == "note"


def test_a_clock_that_follows_the_host_is_found_out(monkeypatch):
    monkeypatch.setattr("rlaif.game.emulator.has_clock", lambda rom: False)
    report, findings, _ = check(ZOO["a clock"])
    assert not report.passed
    assert findings["save and load at random places"].result == "failed"
    assert findings["segments"].result == "failed"


@pytest.mark.parametrize("what", ["frame", "drawing"])
def test_an_emulator_that_forgets_something_is_found_out(monkeypatch, what):
    if what == "frame":
        tick = PyBoyEmulator.tick
        monkeypatch.setattr(PyBoyEmulator, "tick", lambda self, n, **k: tick(self, n + (n == 60)))
        wrong = "frames at once or one by one"
    else:
        step = PyBoyEmulator.step
        noise = iter(range(10_000_000))

        def noisy(self, action, frame_skip, **options):
            step(self, action, frame_skip, **options)
            if options.get("render"):
                self._pyboy.memory[0xC123] = next(noise) & 0xFF

        monkeypatch.setattr(PyBoyEmulator, "step", noisy)
        wrong = "drawn or not"
    report, findings, _ = check(ZOO["a grey game without a mapper"])
    assert not report.passed
    assert findings[wrong].result == "failed"


def test_the_command_prints_a_table_and_one_line_of_json(tmp_path):
    path = tmp_path / "tiny.gb"
    path.write_bytes(ZOO["a clock"])
    small = ["--segments", "2", "--steps", "10", "--save-points", "3", "--tampered", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "rlaif.game", "replay-check", str(path), *small],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    report = json.loads(lines[-1])
    assert report["passed"] is True
    assert report["hardware"] == "grey, MBC3, RAM size code 2, with a clock"
    assert any("replays are proved" in line for line in lines)


def test_the_command_says_why_a_file_is_no_rom(tmp_path):
    path = tmp_path / "notes.gb"
    path.write_text("no game")
    done = subprocess.run(
        [sys.executable, "-m", "rlaif.game", "replay-check", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "too few for a Game Boy ROM" in done.stderr
