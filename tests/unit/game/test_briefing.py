"""Planner briefings: hand-drawn rooms, and the longest briefings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.contracts.planning.briefing import MAP_MARKS, MAX_TOKENS, Briefing, Exit
from rlaif.game.description.briefing import (
    FAILED_CHARACTERS,
    MAX_EXITS,
    MAX_FAILED,
    MAX_THINGS,
    MAX_TO_DO,
    SAID_CHARACTERS,
    brief,
    fitted,
    plain,
)
from rlaif.game.description.tile_marks import Seen, tile_marks
from rlaif.game.description.words import NO_WORDS
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.terrain import Terrain
from rlaif.llm.fence import fence

SIZE = (10, 8)
TILES = {  # how a tile is drawn below → (collision byte, tile index)
    ".": (0x00, 0xA0), "#": (0x0F, 0xB8), "~": (0x10, 0xFD), "o": (0x10, 0xF3),
    "D": (0x00, 0x44), "v": (0x0F, 0xB0), "B": (0x0F, 0x1C), "C": (0x0F, 0xF1),
}  # fmt: skip


def terrain(*lines: str, swims: bool = False) -> Terrain:
    collisions = np.zeros((12, 16), dtype=np.uint8)
    layout = np.zeros((12, 16), dtype=np.uint8)
    for row, line in enumerate(lines):
        for column, drawn in enumerate(line):
            collisions[row, column], layout[row, column] = TILES[drawn]
    return Terrain(collisions, layout, mode=4, swims=swims)


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


def test_without_a_game_nothing_is_reported():
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
        things=(("10 ore chunks", *far),) * MAX_THINGS, to_do=(("button", *far),) * MAX_TO_DO,
        room_solved=True, enemies_left=15,
        exits=(Exit(at=far, side="RIGHT", to="7/255", place="Sword & Shield Maze"),) * MAX_EXITS,
        failed=("x" * FAILED_CHARACTERS,) * MAX_FAILED,
    )  # fmt: skip


def test_the_longest_briefing_is_made_to_fit():
    reported = longest()
    assert reported.tokens > MAX_TOKENS
    short = fitted(reported)
    assert short.tokens <= MAX_TOKENS
    kept = ("room", "at", "map", "text", "asks", "choices", "keys", "on_a")
    assert all(getattr(short, name) == getattr(reported, name) for name in kept)


def test_what_fits_is_left_as_it_is():
    reported = longest().model_copy(update={"items": (), "exits": (), "failed": ()})
    assert reported.tokens <= MAX_TOKENS
    assert fitted(reported) is reported


@given(st.data())
def test_any_briefing_fits_when_it_is_fitted(data):
    reported = longest()
    less = {
        name: getattr(reported, name)[: data.draw(st.integers(0, len(getattr(reported, name))))]
        for name in ("items", "said", "things", "to_do", "exits", "failed", "map")
    }
    assert fitted(reported.model_copy(update=less)).tokens <= MAX_TOKENS


@given(st.text(max_size=500))
def test_a_text_costs_as_many_characters_as_it_has(text):
    reported = plain(text)
    assert len(reported) == len(text)
    block = fence({"said": reported})
    assert block == f'```json\n{{"said":"{reported}"}}\n```'
