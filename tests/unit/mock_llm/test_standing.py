"""Which objective the expert takes for the next one, and how far it finds it."""

from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Evidence, Moment
from rlaif.mock_llm.expert.objectives import LAST, OBJECTIVES, Known, next_objective
from rlaif.mock_llm.expert.room_plans import COLUMNS, PASSAGES, PLANS, ROWS
from rlaif.mock_llm.expert.standing import exact_standing, position, standing, standings, way_pixels
from rlaif.mock_llm.expert.view import standing_at
from rlaif.mock_llm.expert.way import beside, sign_at

Facts = dict[str, Any]

SHOPPED = ("sword", "shield", "bombs")
FOUND = ("bracelet", "rod_of_seasons", "feather", "seed_satchel", "flippers", "gnarled_key")
ALL = (*SHOPPED, *FOUND, "shovel")
VILLAGE, SHOP, FIELD, SOUTH_LANE, MEADOW = "0/119", "3/17", "0/120", "0/135", "0/118"
ENTRANCE, BUTTONS, CROSS, TORCHES, VAULT = "4/28", "4/27", "4/20", "4/19", "4/21"


def _moment(room: str = VILLAGE, x: int = 72, y: int = 88, **facts: Any) -> Moment:
    base: dict[str, Any] = {"items": (), "rupees": 0, "season": "spring"}
    return Moment.model_validate({"room": room, "at": (x, y)} | base | facts)


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
def test_what_is_owned_tells_which_objective_is_next(facts: dict[str, Any], objective: int) -> None:
    assert next_objective(_moment(**facts)) == objective


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
def test_in_the_cave_keys_and_the_room_tell(
    room: str, keys: int, boss_key: bool, objective: int
) -> None:
    assert next_objective(_moment(room, items=ALL, keys=keys, boss_key=boss_key)) == objective


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
    assert standing(_moment(**hidden)) is None
    assert position(_moment(**hidden)) is None
    assert way_pixels(_moment(**hidden)) is None


def test_every_step_of_the_way_is_a_step_nearer() -> None:
    # From the middle of the village up to the door of Fern's House: column 2, from row 6 to 4.
    ways = [way_pixels(_moment(x=40, y=y)) for y in range(104, 71, -4)]
    assert ways == sorted(ways, key=lambda way: way or 0, reverse=True)
    assert len(set(ways)) == len(ways)


def test_the_way_goes_around_walls_and_through_doors() -> None:
    before_the_door = way_pixels(_moment(x=40, y=72))
    beyond_the_wall = way_pixels(_moment("3/16", x=72, y=104))
    assert beyond_the_wall == 64
    assert before_the_door == beyond_the_wall + 16


def test_a_closed_way_is_as_far_as_can_be() -> None:
    """Without the blade the bushes in the west of the village are a wall."""
    here: Facts = {"room": MEADOW, "x": 150, "y": 72}
    assert standing(_moment(**here)) == (1, 20)
    assert standing(_moment(**here, items=("sword",), rupees=20)) == (3, 2)


def test_the_season_has_to_be_turned_at_a_stump_first() -> None:
    items = (*SHOPPED, "bracelet", "rod_of_seasons", "feather")
    here: Facts = {"room": "0/103", "x": 72, "y": 104, "items": items}
    ways = {
        season: way_pixels(_moment(**here, season=season))
        for season in ("winter", "autumn", "summer", "spring")
    }
    assert list(ways.values()) == sorted(ways.values(), key=lambda way: way or 0)
    assert ways["autumn"] == (ways["winter"] or 0) + 20  # beside the stump: one swing
    unknown = way_pixels(_moment(**here, season=None))
    assert unknown == ways["winter"]


def test_the_farmer_comes_before_the_digging() -> None:
    owned = ("sword", "shield")
    at_the_soil: Facts = {"room": FIELD, "x": 120, "y": 24}
    assert standing(_moment(**at_the_soil, items=(*owned, "shovel"))) == (4, 0)
    before = way_pixels(_moment(**at_the_soil, items=owned))
    nearer = way_pixels(_moment(FIELD, x=72, y=72, items=owned))
    assert before is not None
    assert nearer is not None
    assert before > nearer > 0


def test_the_lever_comes_before_torch_hall() -> None:
    here = _moment(CROSS, x=40, y=56, items=ALL, keys=0)
    pulled, not_yet = (way_pixels(here, Known(lever=lever)) for lever in (True, False))
    assert pulled is not None
    assert not_yet is not None
    assert not_yet > pulled + 500


def test_owning_more_never_takes_the_player_back() -> None:
    owned: list[str] = []
    places = []
    for item in (*SHOPPED, *FOUND):
        owned.append(item)
        places.append(position(_moment(FIELD, items=tuple(owned), rupees=30, season="spring")))
    assert places == sorted(places, key=lambda place: place or 0)


def test_the_end_of_the_quest_is_the_end_of_the_scale() -> None:
    home = _moment(items=ALL, essences=1)
    assert standing(home) == (LAST, 0)
    assert position(home) == pytest.approx(LAST - 0.1)


def test_the_position_is_that_of_the_contract_from_the_exact_way() -> None:
    here = _moment(x=41, y=77)
    found = exact_standing(here)
    assert found is not None
    assert found.distance * 80 == way_pixels(here)
    assert found.position == position(here)
    assert standing_at(found.position).distance == pytest.approx(found.distance)


def _evidence(start: Moment, end: Moment, **sections: Any) -> Evidence:
    return Evidence.model_validate({"start": start, "end": end} | sections)


def test_a_key_that_was_spent_has_opened_the_door() -> None:
    start = _moment(CROSS, x=100, y=56, items=ALL, keys=1)
    end = _moment(CROSS, x=144, y=56, items=ALL, keys=0)
    found = standings(_evidence(start, end, changes={"keys": -1}))
    assert [each and each.objective for each in found] == [16, 16]


def test_gnarl_is_beaten_when_nobody_is_left() -> None:
    here = _moment("4/12", x=72, y=40, items=ALL, keys=0, boss_key=True)
    fight = standings(_evidence(here, here, enemies={"left_at_end": 1, "defeated": 0}))
    won = standings(_evidence(here, here, enemies={"left_at_end": 0, "defeated": 1}))
    after = standings(_evidence(here, here, enemies={"left_at_end": 0, "defeated": 0}))
    numbers = [[each and each.objective for each in found] for found in (fight, won, after)]
    assert numbers == [[17, 17], [17, 18], [18, 18]]


def test_the_readings_of_the_switches_tell_of_the_lever() -> None:
    here = _moment(CROSS, x=40, y=56, items=ALL, keys=0)
    hit = standings(_evidence(here, here, puzzle={"parts": {"switches_on": [0, 1, 1]}}))
    never = standings(_evidence(here, here, puzzle={"parts": {}}))
    before, after, unhit = (each.distance for each in (*hit, never[1]) if each is not None)
    assert before == unhit > after


def test_plans_are_whole_and_open_towards_each_other() -> None:
    for room, rows in PLANS.items():
        assert (len(rows), {len(row) for row in rows}) == (ROWS, {COLUMNS})
        for row in range(ROWS):
            for column in range(COLUMNS):
                at = (room, (row, column))
                if sign_at(at) == "#":
                    continue
                for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    there = beside(at, dy, dx)
                    if there is not None and there[0] != room:
                        assert sign_at(there) != "#", (at, there)


def test_every_door_leads_to_an_open_tile_and_every_spot_is_one() -> None:
    for door, arrival in PASSAGES.items():
        assert sign_at(door) in ">K1c"
        assert sign_at(arrival) in ".t"  # the cave of embers lies behind a dry bush
    for objective in OBJECTIVES.values():
        assert {sign_at(spot) for spot in objective.spots} <= {".", "w"}
