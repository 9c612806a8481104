"""Where two emulators differ: for the message of a failed check."""

from rlaif.game.machine.emulator import WRAM_START, Emulator

_HIGH_RAM = (0xFF80, 0xFFFF)


def first_difference(one: Emulator, other: Emulator) -> str:
    """The first address that differs and how many do, such as `0xC0A2 and 3 more bytes`."""
    places = [WRAM_START + i for i in _differing(one.wram(), other.wram())]
    places += [_HIGH_RAM[0] + i for i in _differing(one.read(*_HIGH_RAM), other.read(*_HIGH_RAM))]
    if not places:
        return "a switched work RAM bank or cartridge RAM differs"
    more = f" and {len(places) - 1} more bytes" if len(places) > 1 else ""
    return f"0x{places[0]:04X}{more} differ"


def _differing(one: bytes, other: bytes) -> list[int]:
    return [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
