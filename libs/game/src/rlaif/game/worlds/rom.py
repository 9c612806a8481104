"""Writes tables to a cartridge and reads them: the byte format of the engine's banks.

Bank 2 starts with a directory (`cartridge/src/world.h`) and the sounds, followed in the compiler's
order by the object lists, the rooms, the rules, the title picture, the names and maps. Bank 4
holds the texts. If the rooms exceed bank 2, their names, maps and objects are in banks 5 to 7.
"""

import struct
from dataclasses import astuple
from functools import cache
from importlib import resources

from rlaif.game.worlds.tables import COLUMNS, ROWS, Room, Tables, Thing

BANK_SIZE, BASE = 0x4000, 0x4000
TABLES_BANK, TEXTS_BANK, ROOMS_BANKS = 2, 4, (5, 6, 7)
HEADER_TITLE = slice(0x134, 0x13F)

_DIRECTORY = struct.Struct("<11s11s8H3s7s")
_ROOM = struct.Struct("<BB3HB")  # group, id, name, map, objects, bank (0: that of the tables)
_THING_BYTES = 5


class TooLargeError(Exception):
    """The tables do not fit into the cartridge; the message names the part."""


@cache
def engine() -> bytes:
    """The image of the engine, with the tables of Seedling Vale."""
    return (resources.files("rlaif.game.worlds") / "engine.gbc").read_bytes()


def read_tables(rom: bytes) -> Tables:
    """All tables of a cartridge with a directory."""
    image = bytearray(rom)
    main, text_bank = _Bank(image, TABLES_BANK), _Bank(image, TEXTS_BANK)
    first, second, count, rooms, seasons, talks, gifts, prizes, picture, texts, start, shown = (
        _DIRECTORY.unpack(main.get(BASE, _DIRECTORY.size))
    )
    numbers = (int.from_bytes(text_bank.get(texts, 2), "little") - texts) // 2
    pointers = struct.unpack(f"<{numbers}H", text_bank.get(texts, 2 * numbers))
    return Tables(
        title=(_text(first), _text(second)),
        start=tuple(start),
        rooms=tuple(
            _read_room(image, main.get(rooms + i * _ROOM.size, _ROOM.size))
            for i in range(main.get(count, 1)[0])
        ),
        seasons=main.rows(seasons, 5),
        talks=main.rows(talks, 4),
        gifts=main.rows(gifts, 3),
        prizes=main.rows(prizes, 2),
        title_map=main.string(picture),
        texts=tuple(map(text_bank.string, pointers)),
        engine_texts=tuple(shown),
    )


def write_rom(tables: Tables, header_title: str) -> bytes:
    """The cartridge of these tables, 128 KiB.

    Raises:
        TooLargeError: They do not fit.
    """
    try:
        return _write(tables, header_title, ())
    except TooLargeError:
        return _write(tables, header_title, ROOMS_BANKS)


def _write(tables: Tables, header_title: str, rooms_banks: tuple[int, ...]) -> bytes:
    rom = bytearray(engine())
    main, text_bank = _Bank(rom, TABLES_BANK), _Bank(rom, TEXTS_BANK)
    main.clear(_tables_start())
    text_bank.clear(BASE)
    banks = _allot(tables.rooms, [_Bank(rom, number) for number in rooms_banks]) or [main] * len(
        tables.rooms
    )
    objects = [bank.put(_objects(room)) for room, bank in zip(tables.rooms, banks, strict=True)]
    table = main.put(bytes(_ROOM.size * len(tables.rooms)))
    count = main.put(bytes([len(tables.rooms)]))
    rules = [
        main.put(b"".join(map(bytes, rows)) + bytes(size))
        for rows, size in (
            (tables.seasons, 5), (tables.talks, 4), (tables.gifts, 3), (tables.prizes, 2),
        )
    ]  # fmt: skip
    picture = main.put(_zero(tables.title_map))
    entries = b""
    for room, bank, things in zip(tables.rooms, banks, objects, strict=True):
        name, rows = bank.put(_zero(room.name)), bank.put(_zero("".join(room.rows)))
        entries += _ROOM.pack(*room.key, name, rows, things, 0 if bank is main else bank.number)
    main.set(table, entries)
    texts = text_bank.put(bytes(2 * len(tables.texts)))
    places = {text: text_bank.put(_zero(text)) for text in dict.fromkeys(tables.texts)}
    pointers = (places[text] for text in tables.texts)
    text_bank.set(texts, struct.pack(f"<{len(tables.texts)}H", *pointers))
    lines = (line.encode("ascii") for line in tables.title)
    addresses = (count, table, *rules, picture, texts)
    engine_data = bytes(tables.start), bytes(tables.engine_texts)
    main.set(BASE, _DIRECTORY.pack(*lines, *addresses, *engine_data))
    return _with_header(rom, header_title)


class _Bank:
    """One bank of a ROM, read and written by the addresses that the processor sees."""

    def __init__(self, rom: bytearray, number: int) -> None:
        self.rom, self.number, self._next = rom, number, BASE

    def _at(self, address: int) -> int:
        return self.number * BANK_SIZE + address - BASE

    def get(self, address: int, size: int) -> bytes:
        return bytes(self.rom[self._at(address) :][:size])

    def string(self, address: int) -> str:
        at = self._at(address)
        return self.rom[at : self.rom.index(0, at)].decode("ascii")

    def rows(self, address: int, size: int) -> tuple[tuple[int, ...], ...]:
        """Rows up to the one that starts with 0."""
        found = []
        while (row := tuple(self.get(address, size)))[0]:
            found.append(row)
            address += size
        return tuple(found)

    def clear(self, origin: int) -> None:
        """Clear the bank from an address on; `put` continues there."""
        self._next = origin
        self.set(origin, bytes([0xFF]) * (BASE + BANK_SIZE - origin))

    def set(self, address: int, data: bytes) -> None:
        if address + len(data) > BASE + BANK_SIZE:
            raise TooLargeError(f"bank {self.number} is full")
        self.rom[self._at(address) : self._at(address) + len(data)] = data

    def put(self, data: bytes) -> int:
        """Append data; returns its address."""
        address = self._next
        self.set(address, data)
        self._next += len(data)
        return address


def _allot(rooms: tuple[Room, ...], banks: list[_Bank]) -> list[_Bank]:
    """The bank of each room; banks are filled in order."""
    found: list[_Bank] = []
    for bank in banks:
        bank.clear(BASE)
        left = BANK_SIZE
        for room in rooms[len(found) :]:
            left -= len(room.name) + 1 + ROWS * COLUMNS + 1 + len(_objects(room))
            if left < 0:
                break
            found.append(bank)
    if banks and len(found) < len(rooms):
        raise TooLargeError("the rooms do not fit their banks")
    return found


@cache
def _tables_start() -> int:
    """Address of the first table in the engine's bank 2, after its sounds."""
    main = _Bank(bytearray(engine()), TABLES_BANK)
    count, rooms = _DIRECTORY.unpack(main.get(BASE, _DIRECTORY.size))[2:4]
    entries = main.get(rooms, _ROOM.size * main.get(count, 1)[0])
    return min(int(objects) for *_, objects, _ in _ROOM.iter_unpack(entries))


def _read_room(rom: bytearray, entry: bytes) -> Room:
    group, number, name, rows, objects, bank = _ROOM.unpack(entry)
    data = _Bank(rom, bank or TABLES_BANK)
    tiles = data.string(rows)
    things = data.rows(objects, _THING_BYTES)
    lines = tuple(tiles[i : i + COLUMNS] for i in range(0, ROWS * COLUMNS, COLUMNS))
    return Room(group, number, data.string(name), lines, tuple(Thing(*row) for row in things))


def _objects(room: Room) -> bytes:
    return b"".join(bytes(astuple(it)) for it in room.things) + bytes(_THING_BYTES)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("ascii")


def _zero(text: str) -> bytes:
    return text.encode("ascii") + b"\0"


def _with_header(rom: bytearray, title: str) -> bytes:
    size = HEADER_TITLE.stop - HEADER_TITLE.start
    rom[HEADER_TITLE] = title.encode("ascii").ljust(size, b"\0")
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    rom[0x14E:0x150] = bytes(2)
    rom[0x14E:0x150] = (sum(rom) & 0xFFFF).to_bytes(2, "big")
    return bytes(rom)
