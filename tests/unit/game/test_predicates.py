import pytest

from rlaif.game.memory import predicates
from rlaif.game.memory.predicates import has_control, is_dialog_state, is_puzzle_state
from rlaif.game.memory.puzzles import PuzzleElement, is_settled, puzzle_elements


def test_a_player_in_an_open_room_has_control(make_ram):
    assert has_control(make_ram())


@pytest.mark.parametrize(
    ("symbol", "value"),
    [
        ("wGameState", 1), ("wSavefileString", b"Z21216-0"), ("wCutsceneIndex", 0),
        ("wOpenedMenuType", 1), ("w1Link.state", 2), ("wPaletteThreadMode", 3),
        ("wScrollMode", 0x08), ("wScrollMode", 0x02), ("wLinkDeathTrigger", 0xFF),
        ("wLinkForceState", 0x0B), ("wTextIsActive", 1), ("wDisabledObjects", 0x01),
        ("wDisabledObjects", 0x80), ("wUseSimulatedInput", 1),
    ],
)  # fmt: skip
def test_each_of_these_takes_control_away(make_ram, symbol, value):
    assert not has_control(make_ram((symbol, value)))


@pytest.mark.parametrize(
    ("symbol", "value"),
    [
        ("wScrollMode", 0x81), ("wDisabledObjects", 0x06), ("wLinkObjectIndex", 0xD1),
        ("wRoomIsLarge", 1), ("w1Link.id", 9), ("wDungeonIndex", 3), ("wLinkSwimmingState", 1),
    ],
)  # fmt: skip
def test_none_of_these_takes_control_away(make_ram, symbol, value):
    assert has_control(make_ram((symbol, value)))


@pytest.mark.parametrize(
    ("writes", "dialog"),
    [
        ([("wTextIsActive", 1)], True),
        ([("wTextIsActive", 0x80)], True),
        ([("wTextIsActive", 1), ("wTextDisplayMode", 1)], True),
        ([], False),
        ([("wTextIsActive", 1), ("wTextDisplayMode", 2)], False),
        ([("wTextIsActive", 1), ("wOpenedMenuType", 1)], False),
        ([("wTextIsActive", 1), ("wGameState", 0)], False),
    ],
)
def test_a_dialog_is_a_text_in_play_and_not_in_the_menu(make_ram, writes, dialog):
    assert is_dialog_state(make_ram(*writes)) is dialog


def in_dungeon(*writes):
    return ("wActiveCollisions", 4), ("wActiveGroup", 4), ("wDungeonIndex", 1), *writes


@pytest.mark.parametrize(
    ("tile", "kind"),
    [(0x08, "torch"), (0x0A, "switch"), (0x0C, "button"), (0x18, "block"), (0x1B, "block"),
     (0x1C, "block"), (0x2A, "block")],
)  # fmt: skip
def test_a_dungeon_room_with_something_to_do_is_a_puzzle(make_ram, tile, kind):
    ram = make_ram(*in_dungeon((0xCF34, tile)))
    assert puzzle_elements(ram) == (PuzzleElement(kind, 4, 3),)
    assert is_puzzle_state(ram)


@pytest.mark.parametrize("tile", [0x09, 0x0B, 0x0D, 0x10, 0x70, 0xA0, 0xF1])
def test_what_is_lit_pressed_or_no_puzzle_is_none(make_ram, tile):
    assert not is_puzzle_state(make_ram(*in_dungeon((0xCF34, tile))))


def test_the_same_tile_means_something_else_outdoors(make_ram):
    assert not is_puzzle_state(make_ram((0xCF34, 0x0C)))
    assert is_puzzle_state(make_ram((0xCF34, 0xD6)))


@pytest.mark.parametrize("part", [0x03, 0x0B])
def test_an_orb_is_a_puzzle_wherever_it_stands(make_ram, part):
    ram = make_ram((0xD3C0, bytes([1, part])), (0xD3CB, 40), (0xD3CD, 72))
    assert puzzle_elements(ram) == (PuzzleElement("orb", 4, 2),)
    assert is_puzzle_state(ram)


@pytest.mark.parametrize("flags", [0x20, 0x40, 0x80])
def test_a_room_that_gave_its_item_or_had_its_event_is_no_puzzle_any_more(make_ram, flags):
    ram = make_ram(*in_dungeon((0xCF34, 0x0C), ("wActiveRoom", 0x0B), (0xC90B, flags)))
    assert is_settled(ram)
    assert not is_puzzle_state(ram)


def test_a_visited_room_is_not_settled_by_that(make_ram):
    assert not is_settled(make_ram((0xC700, 0x10)))


@pytest.mark.parametrize("write", [("wTextIsActive", 1), ("wScrollMode", 8), ("wCutsceneIndex", 6)])
def test_a_puzzle_waits_until_the_player_can_act(make_ram, write):
    assert not is_puzzle_state(make_ram(*in_dungeon((0xCF34, 0x0C), write)))


def test_tiles_outside_the_room_are_none_of_its_puzzle(make_ram):
    outside = ((0xCF0A, 0x0C), (0xCF80, 0x0C))
    assert puzzle_elements(make_ram(*in_dungeon(*outside))) == ()
    large = puzzle_elements(make_ram(*in_dungeon(*outside, ("wRoomIsLarge", 1))))
    assert [(e.column, e.row) for e in large] == [(10, 0), (0, 8)]


def test_scrolling_and_text_choices_are_distinguished_from_their_neighbours(make_ram):
    assert predicates.is_scrolling(make_ram(("wScrollMode", 0x04)))
    assert not predicates.is_text_choice(make_ram(("wTextDisplayMode", 1)))
    assert predicates.is_text_choice(make_ram(("wTextDisplayMode", 1), ("wTextIsActive", 1)))
