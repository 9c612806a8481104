"""The words of Seedling Vale are those of the cartridge's sources."""

import re
from pathlib import Path

import pytest

from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.game.description.describe import describe
from rlaif.game.description.words import seedling_texts, words_of
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.memory.state import decode

DATA = Path(__file__).parents[3] / "libs/game/cartridge/data"


@pytest.fixture(scope="module")
def rom():
    return load_cartridge().data


def test_the_rooms_are_called_as_the_cartridge_calls_them():
    found = re.findall(r'\{(\d), 0x([0-9A-F]{2}), "([^"]*)"', (DATA / "rooms.c").read_text())
    assert {(int(group), int(room, 16)): name for group, room, name in found} == SEEDLING_ROOMS


def test_the_texts_are_those_of_the_sources_by_their_numbers(rom):
    ids = re.findall(r"\bTEXT_[A-Z_]+\b(?=,)", (DATA / "texts.h").read_text())
    source = (DATA / "texts.c").read_text().partition("texts[] = {")[2]
    entries = re.findall(r'((?:"(?:[^"\\]|\\.)*"\s*)+),', source)
    texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', entry)) for entry in entries]
    assert len(texts) == len(ids) > 50
    lines = [" ".join(re.sub(r"\\[nf]", " ", text).split()) for text in texts]
    assert seedling_texts(rom) == {number: line for number, line in enumerate(lines) if line}


def test_a_text_is_one_line_of_letters(rom):
    texts = seedling_texts(rom)
    assert texts[1].startswith("Pip! The seasons have lost their way. Old Gnarl took")
    assert all(text.isascii() and text.isprintable() for text in texts.values())


@pytest.mark.parametrize(
    "data", [b"", bytes(0x10000), b"\xff" * 0x10000, bytes(range(256)) * 256, b"\x00\x40" * 0x8000]
)
def test_a_rom_without_the_table_has_no_texts(data):
    assert seedling_texts(data) == {}


def test_a_table_that_is_cut_off_is_no_table(rom):
    start = rom.index(b"Pip! The seasons")
    assert seedling_texts(rom[: start + 200]) == {}


def test_the_text_on_the_screen_is_reported_while_it_is_there(rom, make_ram):
    words = words_of("seedling-vale", rom)
    speaks = make_ram(("wTextIndex", b"\x1d\x04"), ("wTextIsActive", 1))
    assert describe(decode(speaks), words)["text"] == seedling_texts(rom)[0x1D]
    silent = make_ram(("wTextIndex", b"\x1d\x04"))
    assert describe(decode(silent), words)["text"] is None
    unknown = make_ram(("wTextIndex", b"\xee\x04"), ("wTextIsActive", 1))
    assert describe(decode(unknown), words)["text"] is None


@pytest.mark.parametrize("game", ["oracle-of-seasons", "other"])
def test_the_texts_of_other_cartridges_are_unknown(rom, make_ram, game):
    speaks = make_ram(("wTextIndex", b"\x1d\x04"), ("wTextIsActive", 1))
    assert describe(decode(speaks), words_of(game, rom))["text"] is None
