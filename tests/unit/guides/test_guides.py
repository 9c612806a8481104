"""The guides: pages that judges read, with the objectives numbered."""

import pytest

from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.guides.guides import guide_of, guided_games, parse_objectives


@pytest.mark.parametrize("game", guided_games())
def test_a_guide_is_short_enough_for_the_frozen_part_of_a_prompt(game):
    guide = guide_of(game)
    assert guide.game == game
    assert len(guide.text) <= 6500
    assert guide.text.isascii()


@pytest.mark.parametrize("game", guided_games())
def test_objectives_are_reported_in_the_guide_by_number(game):
    guide = guide_of(game)
    for number, objective in enumerate(guide.objectives, start=1):
        assert f"\n{number}. {objective}\n" in guide.text


def test_seedling_vale_has_the_objectives_of_its_quest_in_order():
    pursued = (
        "Briar Blade", "20 coins", "wooden shield", "15 coins", "bombs", "power bracelet",
        "Rod of Seasons", "Gale Feather", "seed satchel", "frog flippers", "gnarled key",
        "Enter Root Cave", "Button Room", "Cross Hall", "Torch Hall", "thorn key", "Gnarl",
        "Sun Seed",
    )  # fmt: skip
    objectives = guide_of("seedling-vale").objectives
    assert len(objectives) == len(pursued)
    for objective, word in zip(objectives, pursued, strict=True):
        assert word in objective


def test_the_guide_of_seedling_vale_names_every_room_by_its_name():
    text = guide_of("seedling-vale").text
    assert [name for name in SEEDLING_ROOMS.values() if name not in text] == []


@pytest.mark.parametrize("game", [None, "other", "", "../secrets", "SEEDLING-VALE"])
def test_a_game_without_a_guide_has_a_general_one_and_no_objectives(game):
    guide = guide_of(game)
    assert (guide.game, guide.objectives) == ("other", ())
    assert guide.text


@pytest.mark.parametrize(
    "page",
    ["# A game\n", "# A game\n\n## Objectives\n\nnone\n", "x\n## Objectives\n1. A\n3. C\n",
     "x\n## Objectives\n2. A\n", "x\n1. A\n\n## Objectives\n\n## Map\n1. A\n"],
)  # fmt: skip
def test_a_page_whose_objectives_are_not_numbered_from_one_upwards_is_refused(page):
    with pytest.raises(ValueError, match="numbers its objectives"):
        parse_objectives(page)


def test_only_the_section_of_objectives_is_read():
    page = "# A\n\n1. no\n\n## Objectives\n\nWords.\n\n1. One\n2. Two\n\n## Map\n\n3. no\n"
    assert parse_objectives(page) == ("One", "Two")


def test_the_map_of_seedling_vale_has_the_distances_of_the_rooms():
    """The guide's table of distances against the rooms of the cartridge, which lie on a grid."""
    doors = {
        "Seedling": {"Mirror Pond", "East Field", "West Meadow", "South Lane"},
        "Mirror Pond": {"Old Orchard", "Vine Cliff"},
        "West Meadow": {"Old Orchard"},
        "East Field": {"Stone Stair", "Reed Lake"},
        "South Lane": {"Mossy Wood", "Dry Hollow"},
        "Old Orchard": {"Frost Hollow"},
        "Vine Cliff": {"Windy Ridge"},
        "Stone Stair": {"Blossom Way"},
        "Reed Lake": {"Lake Isle"},
        "Blossom Way": {"Root Gate"},
        "Root Cave": {"Button Room", "Hop Hall", "Cross Hall"},
        "Cross Hall": {"Torch Hall", "Stone Vault", "Gnarl's Den"},
        "Gnarl's Den": {"Seed Hall"},
    }
    numbers = {name: where for where, name in SEEDLING_ROOMS.items()}
    for here, others in doors.items():
        for there in others:
            (group, one), (other_group, other) = numbers[here], numbers[there]
            assert group == other_group
            assert abs(one - other) in {1, 0x10 if group == 0 else 8}
    table = guide_of("seedling-vale").text.rpartition("Rooms away from Seedling: ")[2]
    outside, _, inside = table.partition(". From the first room of Root Cave: ")
    assert _reported(outside) == _reached(doors, "Seedling")
    assert _reported(inside.strip().removesuffix(".")) == _reached(doors, "Root Cave")


def _reported(table: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in table.split("; "):
        number, _, names = row.partition(" ")
        found |= dict.fromkeys(names.split(", "), int(number))
    return found


def _reached(doors: dict[str, set[str]], start: str) -> dict[str, int]:
    found, edge, rooms = {start: 0}, {start}, 0
    while edge:
        rooms += 1
        edge = {there for here in edge for there in doors.get(here, set())} - set(found)
        found |= dict.fromkeys(edge, rooms)
    return {name: rooms for name, rooms in found.items() if rooms}
