"""Names and texts of a game: its title, its places, its dialogs.

Available for the shipped game, generated worlds and Oracle of Seasons; the latter's texts are
compressed in the user's cartridge and remain unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rlaif.contracts.game.names import ORACLE_DUNGEONS, SEEDLING_ROOMS, seed_and_size
from rlaif.game.machine.cartridges import Game
from rlaif.game.memory.state import GameState
from rlaif.game.worlds.rom import read_tables

# The compiler stores `texts` of cartridge/data/texts.c as a table of pointers, followed by the
# strings in the same order. The table is found by this shape: each pointer follows a string.
_BANK = slice(0x8000, 0xC000)
"""ROM bank 2: rooms, texts and sounds."""

_BANK_STARTS_AT = 0x4000
_MIN_TEXTS = 8
"""Shorter runs of matching pointers may be coincidental."""


def seedling_texts(rom: bytes) -> dict[int, str]:
    """Text id → the whole text as one line; nothing where no table is found. About 10 ms."""
    bank = rom[_BANK]
    for table in range(len(bank) - 2 * _MIN_TEXTS):
        found = _strings(bank, table)
        if len(found) >= _MIN_TEXTS:
            return {number: _line(text) for number, text in enumerate(found) if text}
    return {}


def _strings(bank: bytes, table: int) -> list[bytes]:
    """The strings of the table of pointers at an offset, as far as they are contiguous.

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
    """The offset in the bank of a pointer's target; outside the bank if it is not a pointer."""
    return int.from_bytes(bank[at : at + 2], "little") - _BANK_STARTS_AT


def _line(text: bytes) -> str:
    return " ".join(text.decode("ascii", errors="replace").split())


@dataclass(frozen=True)
class GameWords:
    """Names and texts of one game.

    Attributes:
        game: Its name; None if unknown.
        rooms: (Group, room) → name.
        dungeons: Names of dungeons by number, for rooms without a name.
        texts: Text id → the text.
        choices: The answers to every question, in order; empty if they differ by question.
    """

    game: Game | None = None
    rooms: Mapping[tuple[int, int], str] = field(default_factory=dict)
    dungeons: Sequence[str] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()

    def place(self, state: GameState) -> str | None:
        if name := self.rooms.get((state.group, state.room)):
            return name
        inside = state.dungeon is not None and state.dungeon < len(self.dungeons)
        return self.dungeons[state.dungeon or 0] if inside else None

    def text(self, state: GameState) -> str | None:
        return None if state.text_id is None else self.texts.get(state.text_id)


NO_WORDS = GameWords()
"""Of an unknown game."""


def words_of(game: Game, rom: bytes) -> GameWords:
    """Names and texts of a cartridge."""
    if game == "seedling-vale":
        return GameWords(game, SEEDLING_ROOMS, texts=seedling_texts(rom), choices=("Yes", "No"))
    if game == "oracle-of-seasons":
        return GameWords(game, dungeons=ORACLE_DUNGEONS)
    if seed_and_size(game):
        tables = read_tables(rom)
        rooms = {room.key: room.name for room in tables.rooms}
        texts = {number: " ".join(text.split()) for number, text in enumerate(tables.texts) if text}
        return GameWords(game, rooms, texts=texts, choices=("Yes", "No"))
    return GameWords(game)
