"""The next objective and the distance to it, by the records of a world."""

from typing import Any, cast

import pytest

from rlaif.contracts.judging.evidence import Evidence, Moment
from rlaif.mock_llm.expert.opinion import quest_position_at
from rlaif.mock_llm.expert.progress import (
    USUAL,
    Known,
    next_objective,
    quest_position,
    quest_positions,
)
from rlaif.mock_llm.expert.world import World, world_of

Facts = dict[str, Any]

VALE = cast(World, world_of(None))
LAST = VALE.last

SHOPPED = ("sword", "shield", "bombs")
FOUND = ("bracelet", "rod_of_seasons", "feather", "seed_satchel", "flippers", "gnarled_key")
ALL = (*SHOPPED, *FOUND, "shovel")
VILLAGE, SHOP, FIELD, SOUTH_LANE, MEADOW = "0/119", "3/17", "0/120", "0/135", "0/118"
ENTRANCE, BUTTONS, CROSS, TORCHES, VAULT = "4/28", "4/27", "4/20", "4/19", "4/21"


def _moment(room: str = VILLAGE, x: int = 72, y: int = 88, **facts: Any) -> Moment:
    base: dict[str, Any] = {"items": (), "rupees": 0, "season": "spring"}
    return Moment.model_validate({"room": room, "at": (x, y)} | base | facts)


def _pixels(moment: Moment, known: Known = USUAL) -> float:
    """Pixels to walk, up to ten rooms."""
    found = quest_position(moment, known)
    assert found is not None
    return found.distance * 80


def _rounded(moment: Moment) -> tuple[int, int]:
    """(objective, whole half screens)."""
    found = quest_position(moment)
    assert found is not None
    return found.objective, round(found.distance)


@pytest.mark.parametrize(
    ("facts", "objective"),
    [
        ({"items": ()}, 1),
        ({"items": ("sword",), "rupees": 19}, 2),
        ({"items": ("sword",), "rupees": 20}, 3),
        ({"items": ("sword", "shield"), "rupees": 14}, 4),
        ({"items": ("sword", "shield"), "rupees": 15}, 5),
        ({"items": SHOPPED}, 6),
        *(({"items": (*SHOPPED, *FOUND[:n])}, 6 + n) for n in range(1, 6)),
        ({"items": ALL}, 12),
    ],
)
def test_the_next_objective_follows_from_the_items(facts: dict[str, Any], objective: int) -> None:
    assert next_objective(VALE, _moment(**facts)) == objective


@pytest.mark.parametrize(
    ("room", "keys", "boss_key", "objective"),
    [
        (ENTRANCE, 0, False, 13),
        (BUTTONS, 0, False, 13),
        (ENTRANCE, 1, False, 14),
        (CROSS, 0, False, 15),
        (TORCHES, 0, False, 15),
        (TORCHES, 1, False, 16),
        (CROSS, 1, False, 16),
        (VAULT, 0, False, 16),
        (VAULT, 0, True, 17),
        (ENTRANCE, 0, True, 17),
        ("4/12", 0, True, 17),
        ("4/4", 0, True, 18),
    ],
)
def test_in_the_cave_the_next_objective_follows_from_keys_and_the_room(
    room: str, keys: int, boss_key: bool, objective: int
) -> None:
    here = _moment(room, items=ALL, keys=keys, boss_key=boss_key)
    assert next_objective(VALE, here) == objective


@pytest.mark.parametrize(
    "hidden",
    [
        {"items": None},
        {"room": None},
        {"room": "0/1"},
        {"at": None},
        {"items": ("sword",), "rupees": None},
        {"game": "oracle-of-seasons"},
    ],
)
def test_what_the_evidence_does_not_show_is_not_guessed(hidden: dict[str, Any]) -> None:
    assert quest_position(_moment(**hidden)) is None


def test_every_step_along_the_path_reduces_the_distance() -> None:
    # From the middle of the village up to the door of Fern's House: column 2, from row 6 to 4.
    distances = [_pixels(_moment(x=40, y=y)) for y in range(104, 71, -4)]
    assert distances == sorted(set(distances), reverse=True)


def test_the_path_leads_around_walls_and_through_doors() -> None:
    before_the_door = _pixels(_moment(x=40, y=72))
    beyond_the_wall = _pixels(_moment("3/16", x=72, y=104))
    assert beyond_the_wall == 64
    assert before_the_door == beyond_the_wall + 16


def test_without_a_path_the_distance_is_the_largest() -> None:
    """Without the blade the bushes in the west of the village are a wall."""
    here: Facts = {"room": MEADOW, "x": 150, "y": 72}
    assert _rounded(_moment(**here)) == (1, 20)
    assert _rounded(_moment(**here, items=("sword",), rupees=20)) == (3, 2)


def test_changing_the_season_at_a_stump_counts() -> None:
    items = (*SHOPPED, "bracelet", "rod_of_seasons", "feather")
    here: Facts = {"room": "0/103", "x": 72, "y": 104, "items": items}
    ways = {
        season: _pixels(_moment(**here, season=season))
        for season in ("winter", "autumn", "summer", "spring")
    }
    assert list(ways.values()) == sorted(ways.values())
    assert ways["autumn"] == ways["winter"] + 20  # beside the stump: one swing
    unknown = _pixels(_moment(**here, season=None))
    assert unknown == ways["winter"]


def test_the_farmer_comes_before_the_digging() -> None:
    owned = ("sword", "shield")
    at_the_soil: Facts = {"room": FIELD, "x": 120, "y": 24}
    assert _rounded(_moment(**at_the_soil, items=(*owned, "shovel"))) == (4, 0)
    before = _pixels(_moment(**at_the_soil, items=owned))
    nearer = _pixels(_moment(FIELD, x=72, y=72, items=owned))
    assert before > nearer > 0


def test_the_lever_comes_before_torch_hall() -> None:
    here = _moment(CROSS, x=40, y=56, items=ALL, keys=0)
    pulled, not_yet = (_pixels(here, Known(lever=lever)) for lever in (True, False))
    assert not_yet > pulled + 500


def test_owning_more_is_never_a_regress() -> None:
    positions = []
    for number in range(1, len((*SHOPPED, *FOUND)) + 1):
        owned = (*SHOPPED, *FOUND)[:number]
        found = quest_position(_moment(FIELD, items=owned, rupees=30, season="spring"))
        assert found is not None
        positions.append(found.position)
    assert positions == sorted(positions)


def test_the_end_of_the_quest_is_the_end_of_the_scale() -> None:
    end = quest_position(_moment(items=ALL, essences=1))
    assert end is not None
    assert (end.objective, end.distance) == (LAST, 0)
    assert end.position == pytest.approx(LAST - 0.1)


def test_a_position_can_be_converted_back() -> None:
    found = quest_position(_moment(x=41, y=77))
    assert found is not None
    assert quest_position_at(found.position, LAST).distance == pytest.approx(found.distance)


def _evidence(start: Moment, end: Moment, **sections: Any) -> Evidence:
    return Evidence.model_validate({"start": start, "end": end} | sections)


def test_a_key_that_was_spent_has_opened_the_door() -> None:
    start = _moment(CROSS, x=100, y=56, items=ALL, keys=1)
    end = _moment(CROSS, x=144, y=56, items=ALL, keys=0)
    found = quest_positions(_evidence(start, end, changes={"keys": -1}))
    assert [each and each.objective for each in found] == [16, 16]


@pytest.mark.parametrize(
    ("rooms", "keys", "objectives"),
    [
        ([CROSS, VAULT, CROSS], 0, [16, 16]),  # the door was open
        ([CROSS, VAULT, CROSS], -1, [15, 16]),
        ([CROSS, TORCHES, CROSS], 0, [15, 15]),
        ([CROSS, VAULT, CROSS], None, [15, 16]),
    ],
)
def test_a_door_that_one_goes_through_without_a_key_was_open(
    rooms: list[str], keys: int | None, objectives: list[int]
) -> None:
    here = _moment(CROSS, x=100, y=56, items=ALL, keys=0)
    sections: Facts = {"rooms": {"in_order": rooms}, "changes": {"keys": keys}}
    found = quest_positions(_evidence(here, here, **sections))
    assert [each and each.objective for each in found] == objectives


def test_gnarl_is_beaten_when_no_enemy_is_left() -> None:
    here = _moment("4/12", x=72, y=40, items=ALL, keys=0, boss_key=True)
    fight = quest_positions(_evidence(here, here, enemies={"left_at_end": 1, "defeated": 0}))
    won = quest_positions(_evidence(here, here, enemies={"left_at_end": 0, "defeated": 1}))
    after = quest_positions(_evidence(here, here, enemies={"left_at_end": 0, "defeated": 0}))
    numbers = [[each and each.objective for each in found] for found in (fight, won, after)]
    assert numbers == [[17, 17], [17, 18], [18, 18]]


def test_the_lever_follows_from_the_switches() -> None:
    here = _moment(CROSS, x=40, y=56, items=ALL, keys=0)
    hit = quest_positions(_evidence(here, here, puzzle={"parts": {"switches_on": [0, 1, 1]}}))
    never = quest_positions(_evidence(here, here, puzzle={"parts": {}}))
    before, after, unhit = (each.distance for each in (*hit, never[1]) if each is not None)
    assert before == unhit > after
