"""What a planner is told: rooms drawn by hand, and briefings as long as they can get."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.briefing import MAP_MARKS, MOST_TOKENS, Briefing, Exit
from rlaif.contracts.items import NAMED_ITEMS
from rlaif.game.briefing.brief import (
    FAILED_CHARACTERS,
    MOST_EXITS,
    MOST_FAILED,
    MOST_THINGS,
    MOST_TO_DO,
    SAID_CHARACTERS,
    brief,
    plain,
)
from rlaif.game.briefing.fitting import fitted
from rlaif.game.briefing.reach import reach
from rlaif.game.briefing.surroundings import Seen
from rlaif.game.briefing.tile_marks import tile_marks
from rlaif.game.description.words import NO_WORDS
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.terrain import Terrain
from rlaif.llm.fence import fence

SIZE = (10, 8)
TILES = {  # how a tile is drawn below → (collision byte, tile index)
    ".": (0x00, 0xA0), "#": (0x0F, 0xB8), "~": (0x10, 0xFD), "o": (0x10, 0xF3),
    "D": (0x00, 0x44), "v": (0x0F, 0xB0), "B": (0x0F, 0x1C), "C": (0x0F, 0xF1),
}  # fmt: skip
ROOM = (
    "####..####",
    "#........#",
    "#.######.#",
    "#.#....#.#",
    "#.#.~~.#.#",
    "#.#....#.#",
    "#.##D###.#",
    "####..####",
)


def terrain(*lines: str, swims: bool = False) -> Terrain:
    collisions = np.zeros((12, 16), dtype=np.uint8)
    layout = np.zeros((12, 16), dtype=np.uint8)
    for row, line in enumerate(lines):
        for column, drawn in enumerate(line):
            collisions[row, column], layout[row, column] = TILES[drawn]
    return Terrain(collisions, layout, mode=4, swims=swims)


def tiles_within(room: Terrain, column: int, row: int) -> set[tuple[int, int]]:
    within = reach(room, column * 16 + 8, row * 16 + 8)
    return {(x, y) for y in range(8) for x in range(10) if within.enters(x, y)}


def test_who_stands_outside_of_walls_does_not_come_in():
    within = tiles_within(terrain(*ROOM), 1, 1)
    assert (8, 6) in within
    assert (4, 0) in within
    assert not within & {(3, 3), (4, 3), (3, 5), (4, 6), (2, 2)}


def test_a_door_is_entered_and_nobody_walks_on_behind_it():
    within = tiles_within(terrain(*ROOM), 3, 3)
    assert (4, 6) in within
    assert not within & {(4, 7), (5, 7), (1, 1)}


def test_who_stands_on_a_door_walks_off_on_both_sides():
    assert {(4, 5), (4, 7)} <= tiles_within(terrain(*ROOM), 4, 6)


@pytest.mark.parametrize("swims", [True, False])
def test_water_is_a_way_for_who_can_swim(swims):
    assert ((4, 4) in tiles_within(terrain(*ROOM, swims=swims), 3, 3)) == swims


def test_a_hole_is_no_way():
    room = terrain("##########", "#..o.....#", *["##########"] * 6)
    assert tiles_within(room, 1, 1) == {(1, 1), (2, 1)}


def test_a_cliff_is_jumped_down_and_not_up():
    room = terrain("##########", "#........#", "#vvvvvvvv#", "#........#", *["##########"] * 4)
    assert {(1, 3), (8, 3)} <= tiles_within(room, 4, 1)
    assert (4, 1) not in tiles_within(room, 4, 3)


def test_an_edge_is_left_where_it_is_open():
    within = reach(terrain(*ROOM), 24, 24)
    rims = {way: {int(x) for x in np.argwhere(rim)[:, 1]} for way, rim in within.rims.items()}
    assert rims[Action.UP] == {9, 10, 11}
    assert rims[Action.DOWN] == {9, 10, 11}
    assert rims[Action.LEFT] == rims[Action.RIGHT] == set()


def test_the_map_draws_what_stands_in_the_room_and_the_player_above_all():
    room = terrain("##########", "#..B..C.~#", "#o.v.D...#", *["#........#"] * 4, "##########")
    seen = [Seen("enemy", "E", 1, 1), Seen("1 rupee", "I", 1, 1), Seen("answers A", "P", 3, 3)]
    drawn = tile_marks(room, seen, (3, 3), size=SIZE)
    assert drawn[:4] == ("##########", "#E.B..C.~#", "#o.v.D...#", "#..@.....#")


@given(
    st.lists(st.integers(0, 255), min_size=192, max_size=192),
    st.lists(st.integers(0, 255), min_size=192, max_size=192),
    st.integers(0, 7),
)
def test_whatever_the_tiles_the_map_has_marks_that_are_explained(collisions, layout, mode):
    room = Terrain(
        np.array(collisions, dtype=np.uint8).reshape(12, 16),
        np.array(layout, dtype=np.uint8).reshape(12, 16),
        mode=mode,
    )
    drawn = tile_marks(room, [], (0, 0), size=SIZE)
    assert [len(line) for line in drawn] == [10] * 8
    assert set("".join(drawn)) <= set(MAP_MARKS)


def test_no_mark_would_be_escaped_where_facts_are_fenced_in():
    assert not set(MAP_MARKS) & set('`<>"\\')
    assert all(len(mark) == 1 and mark.isascii() for mark in MAP_MARKS)


def test_where_no_game_is_played_nothing_is_told():
    assert brief(RamBlocks(bytes(8192)), NO_WORDS) == Briefing()


def longest() -> Briefing:
    """Everything at once, each as long as it may be."""
    far = (14, 10)
    return Briefing(
        game="oracle-of-seasons", place="Hero's Cave (linked)", room="7/255", area="side view",
        dungeon=11, season="summer", at=far, facing="RIGHT", hearts=19.75, max_hearts=20.0,
        rupees=999, bombs=99, keys=9, boss_key=True, essences=8, items=tuple(NAMED_ITEMS),
        on_a="rod_of_seasons", on_b="magnet_gloves", text=True, said="x" * SAID_CHARACTERS,
        asks=True, choices=("Yes", "No"), map=("#" * 15,) * 11,
        things=(("10 ore chunks", *far),) * MOST_THINGS, to_do=(("button", *far),) * MOST_TO_DO,
        room_solved=True, enemies_left=15,
        exits=(Exit(at=far, side="RIGHT", to="7/255", place="Sword & Shield Maze"),) * MOST_EXITS,
        failed=("x" * FAILED_CHARACTERS,) * MOST_FAILED,
    )  # fmt: skip


def test_the_longest_briefing_is_made_to_fit():
    told = longest()
    assert told.tokens > MOST_TOKENS
    short = fitted(told)
    assert short.tokens <= MOST_TOKENS
    kept = ("room", "at", "map", "text", "asks", "choices", "keys", "on_a")
    assert all(getattr(short, name) == getattr(told, name) for name in kept)


def test_what_fits_is_left_as_it_is():
    told = longest().model_copy(update={"items": (), "exits": (), "failed": ()})
    assert told.tokens <= MOST_TOKENS
    assert fitted(told) is told


@given(st.data())
def test_any_briefing_fits_when_it_is_fitted(data):
    told = longest()
    less = {
        name: getattr(told, name)[: data.draw(st.integers(0, len(getattr(told, name))))]
        for name in ("items", "said", "things", "to_do", "exits", "failed", "map")
    }
    assert fitted(told.model_copy(update=less)).tokens <= MOST_TOKENS


@given(st.text(max_size=500))
def test_a_text_costs_as_many_characters_as_it_has(text):
    told = plain(text)
    assert len(told) == len(text)
    block = fence({"said": told})
    assert block == f'```json\n{{"said":"{told}"}}\n```'


def test_a_briefing_is_read_back_as_it_was():
    told = longest()
    assert Briefing.model_validate_json(told.to_json()) == told
