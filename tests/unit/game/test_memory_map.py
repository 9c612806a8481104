import pytest

from rlaif.game.memory.memory_map import room_flags_page
from rlaif.game.memory.symbols import GROUPS, SYMBOLS

SIZES = {"u8": 1, "s8": 1, "u16": 2, "u32": 4, "bcd8": 1, "bcd16": 2, "bits": 1, "direction": 1,
         "angle": 1, "tile": 1}  # fmt: skip


def region(place):
    if place.address >= 0xFF80:
        return 0xFF80, 0xFFFF
    return (0xC000, 0xD000) if place.bank == 0 else (0xD000, 0xE000)


def test_symbols_are_sorted_and_lie_in_their_bank():
    places = [(place.bank, place.address) for place in SYMBOLS]
    assert places == sorted(places)
    for place in SYMBOLS:
        low, high = region(place)
        assert low <= place.address < place.address + place.size <= high, place


def test_every_symbol_has_one_name_and_one_group():
    assert len({place.name for place in SYMBOLS}) == len(SYMBOLS)
    assert sum(len(places) for places in GROUPS.values()) == len(SYMBOLS)
    assert all(place.group == group for group, places in GROUPS.items() for place in places)


def test_no_two_symbols_share_a_byte():
    taken: dict[tuple[int, int], str] = {}
    for place in SYMBOLS:
        for at in range(place.address, place.address + place.size):
            assert (place.bank, at) not in taken, (place, taken[place.bank, at])
            taken[place.bank, at] = place.name


def test_every_symbol_has_the_size_of_its_encoding_and_a_meaning():
    for place in SYMBOLS:
        assert place.size == SIZES.get(place.encoding, place.size), place
        assert place.confidence in ("A", "B", "C")
        assert place.meaning
        assert place.meaning.isascii()


@pytest.mark.parametrize(
    ("group", "page"),
    list(enumerate((0xC700, 0xC800, 0xC800, 0xC800, 0xC900, 0xCA00, 0xC900, 0xCA00, 0xC700))),
)
def test_groups_share_the_pages_of_room_flags_as_in_the_game(group, page):
    assert room_flags_page(group) == page
