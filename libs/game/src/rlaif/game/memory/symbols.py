"""The symbols of the memory map: addresses of the game's variables, from `symbols.csv`.

The layout is that of Oracle of Seasons (US), from the public disassembly
github.com/Stewmath/oracles-disasm at dfaba5238b102fa2b70f737a977a32219ba80c6b (include/wram.s,
include/hram.s, include/structs.s). The embedded cartridge keeps the same facts at the same
addresses. Other regions and Oracle of Ages have another layout.

Confidence, as the game itself was not run:
    A   computed from the disassembly, and a matching value was found in a real save state
    B   computed and documented, but always zero in the real save states
    C   the address is certain, the meaning is not

Names are the labels of the disassembly, with two exceptions: `wTextIndex` is wTextIndexL and
wTextIndexH together, `wPaletteThreadMode` is wPaletteThread_mode.
"""

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Literal, cast

Encoding = Literal[
    "u8", "s8", "u16", "u32", "bcd8", "bcd16", "bits", "set", "bytes", "text", "direction",
    "angle", "tile", "pointers",
]  # fmt: skip
"""How the bytes are read. `u16`, `u32`, `bcd16`, `pointers`: little-endian. `bits`: flags in one
byte. `set`: number n is bit n % 8 of byte n / 8. `direction`: 0 up, 1 right, 2 down, 3 left.
`angle`: 32 steps clockwise from up. `tile`: row in the high nibble, column in the low one."""

Confidence = Literal["A", "B", "C"]


@dataclass(frozen=True)
class Symbol:
    """One place in RAM."""

    name: str  # label
    address: int  # as the CPU sees it
    bank: int  # 0 is always mapped (0xC000-0xCFFF and 0xFF80-0xFFFE), 1 and up are at 0xD000
    size: int  # bytes
    encoding: Encoding
    confidence: Confidence
    meaning: str  # with units
    group: str  # category, for display


def _read() -> dict[str, tuple[Symbol, ...]]:
    groups: dict[str, list[Symbol]] = {}
    text = (resources.files(__package__ or "") / "symbols.csv").read_text(encoding="ascii")
    for row in csv.DictReader(text.splitlines()):
        groups.setdefault(row["group"], []).append(
            Symbol(
                name=row["name"],
                address=int(row["address"], 16),
                bank=int(row["bank"]),
                size=int(row["size"]),
                encoding=cast(Encoding, row["encoding"]),
                confidence=cast(Confidence, row["confidence"]),
                meaning=row["meaning"],
                group=row["group"],
            )
        )
    return {group: tuple(symbols) for group, symbols in groups.items()}


GROUPS = _read()
"""Each group sorted by bank and address."""

SYMBOLS: tuple[Symbol, ...] = tuple(
    sorted((s for rows in GROUPS.values() for s in rows), key=lambda s: (s.bank, s.address))
)
"""All symbols, sorted by bank and address."""
