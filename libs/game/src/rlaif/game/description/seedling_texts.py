"""What people and signs of Seedling Vale say: the shipped ROM in, its texts by their ids out.

The compiler lays `texts` of cartridge/data/texts.c out in one piece: a table of pointers, then the
strings in the same order, each up to a zero. So the table is found by its own shape: each of its
pointers leads behind the string of the one before.
"""

_BANK = slice(0x8000, 0xC000)
"""ROM bank 2: rooms, texts and sounds."""

_BANK_STARTS_AT = 0x4000
_MIN_TEXTS = 8
"""Shorter runs of fitting pointers may be chance."""


def seedling_texts(rom: bytes) -> dict[int, str]:
    """Text id → the whole text as one line; nothing where no table is found. About 10 ms."""
    bank = rom[_BANK]
    for table in range(len(bank) - 2 * _MIN_TEXTS):
        found = _strings(bank, table)
        if len(found) >= _MIN_TEXTS:
            return {number: _line(text) for number, text in enumerate(found) if text}
    return {}


def _strings(bank: bytes, table: int) -> list[bytes]:
    """The strings of a table of pointers at an offset, as far as they follow each other.

    The first string follows the table, so its pointer gives the length of the table.
    """
    found: list[bytes] = []
    first = start = _pointer(bank, table)
    for at in range(table, first, 2):
        end = bank.find(0, start)
        if end < 0 or _pointer(bank, at) != start:
            break
        found.append(bank[start:end])
        start = end + 1
    return found


def _pointer(bank: bytes, at: int) -> int:
    """Where in the bank a pointer leads; outside of it for what is no pointer."""
    return int.from_bytes(bank[at : at + 2], "little") - _BANK_STARTS_AT


def _line(text: bytes) -> str:
    """The pages and lines of a text, one after the other; letters are ASCII (art/font.txt)."""
    return " ".join(text.decode("ascii", errors="replace").split())
