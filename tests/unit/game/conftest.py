"""A ROM small enough to read: it mixes buttons, time and its own RAM, and counts presses."""

from collections.abc import Callable, Iterator

import pytest

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.testing.data.written_ram import written_ram

JOYPAD, A_FRAMES, UP_FRAMES = 0xFF82, 0xFF83, 0xFF84
"""Buttons of the last frame (0 is pressed; d-pad in the high nibble); frames with A; with UP."""

_VBLANK = bytes.fromhex("f5 f081 3c e081 f1 d9")  # count frames in 0xFF81
_START = bytes.fromhex(
    "f3 31feff"  # di; ld sp, 0xFFFE
    "3e0a ea0000"  # ld a, 10; ld (0), a: switch cartridge RAM on
    "3e01 e0ff fb"  # interrupts: vertical blank only
    "21 00c0"  # ld hl, 0xC000
)
_LOOP = bytes.fromhex(
    "76 00"  # halt; nop: one turn a frame
    "3e20 e000 f000 f000 e60f cb37 47"  # d-pad into the high nibble of b
    "3e10 e000 f000 f000 e60f b0 47"  # buttons into the low nibble
    "e082"  # 0xFF82 = b
    "cb40 2005 f083 3c e083"  # A pressed: inc (0xFF83)
    "cb70 2005 f084 3c e084"  # UP pressed: inc (0xFF84)
    "f080 07 a8 4f f004 81 e080"  # 0xFF80 = rotate(0xFF80) ^ b, + DIV
    "77 e070 ea00a0"  # (hl) = it; also the RAM bank and cartridge RAM
    "23 7c fee0"  # inc hl; at 0xE000?
)


def make_rom(*, colour: bool = True, title: bytes = b"TINY", cart_type: int = 0x1B) -> bytes:
    """A 32 KiB ROM with a valid header and no logo."""
    rom = bytearray(0x8000)
    rom[0x40 : 0x40 + len(_VBLANK)] = _VBLANK
    rom[0x100:0x104] = bytes.fromhex("00 c35001")
    rom[0x134 : 0x134 + len(title)] = title
    rom[0x143] = 0xC0 if colour else 0x00
    rom[0x147], rom[0x149] = cart_type, 2 if cart_type == 0x1B else 0
    back = len(_LOOP) + 2
    wrap = bytes([0x20, 0x100 - back, 0x26, 0xC0, 0x18, 0x100 - back - 4])
    code = _START + _LOOP + wrap
    rom[0x150 : 0x150 + len(code)] = code
    checksum = 0
    for byte in rom[0x134:0x14D]:
        checksum = checksum - byte - 1 & 0xFF
    rom[0x14D] = checksum
    return bytes(rom)


@pytest.fixture(params=[True, False], ids=["colour", "grey"])
def tiny_rom(request: pytest.FixtureRequest) -> bytes:
    return make_rom(colour=request.param)


@pytest.fixture
def rom_maker() -> Callable[..., bytes]:
    return make_rom


@pytest.fixture
def emulators(tiny_rom: bytes) -> Iterator[Callable[[], Emulator]]:
    """Starts booted emulators and stops them."""
    started: list[Emulator] = []

    def start() -> Emulator:
        emulator = Emulator(tiny_rom)
        emulator.tick(200)
        started.append(emulator)
        return emulator

    yield start
    for emulator in started:
        emulator.close()


@pytest.fixture
def emulator(emulators: Callable[[], Emulator]) -> Emulator:
    return emulators()


@pytest.fixture
def make_ram() -> Callable[..., RamBlocks]:
    return written_ram
