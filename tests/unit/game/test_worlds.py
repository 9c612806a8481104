"""Generated worlds: bytes, graph, layout, rooms, texts, solution, records."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from rlaif.contracts.game.names import NAMED_PLACES
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.game.worlds import rom as engine_file
from rlaif.game.worlds.canvas import INSIDE, Canvas, NoRoomError
from rlaif.game.worlds.draw import DUNGEON_GRID, GRID, draw_world
from rlaif.game.worlds.graph import MAX_ROOMS, MIN_ROOMS, SIZES, draw_plan
from rlaif.game.worlds.guide import guide
from rlaif.game.worlds.layout import CrampedError, Layout, beyond
from rlaif.game.worlds.making import make_world, provide
from rlaif.game.worlds.records import Facts, use_of
from rlaif.game.worlds.rom import engine, read_tables
from rlaif.game.worlds.solver import Solver, UnsolvableError
from rlaif.game.worlds.tables import (
    LINE_LETTERS,
    MAX_THINGS,
    NAME_LETTERS,
    PAGE_LINES,
    ROWS,
    SIGNS,
    TEXT_LETTERS,
    Kind,
    Treasure,
)
from rlaif.game.worlds.words import broken
from rlaif.guides.guides import guide_of, parse_objectives, world_json

CARTRIDGE = Path(__file__).parents[3] / "libs/game/cartridge"
WORLDS = Path(engine_file.__file__).parent
SEEDS = st.integers(0, 2**32)
SIZE = st.integers(MIN_ROOMS, MAX_ROOMS)


@pytest.fixture(scope="module", params=[(seed, rooms) for seed in (1, 2) for rooms in SIZES])
def made(request):
    return make_world(*request.param)


# --- bytes ------------------------------------------------------------------------


def test_the_engine_image_holds_the_rooms_and_texts_of_the_embedded_game():
    tables, rom = read_tables(engine()), load_cartridge().data
    for room in tables.rooms:
        assert "".join(room.rows).encode() in rom
        assert f"\0{room.name}\0".encode() in rom
    for text in tables.texts:
        assert text.encode() in rom


def test_tables_that_are_written_are_read_back(made):
    assert read_tables(made.rom) == made.tables


def test_the_same_seed_gives_the_same_bytes_and_records(made):
    again = make_world(made.seed, len(made.tables.rooms))
    assert again.rom == made.rom
    assert json.dumps(again.facts) == json.dumps(made.facts)


def test_seeds_differ():
    assert len({make_world(seed, 30).rom for seed in range(1, 9)}) == 8


def test_the_picture_of_the_tiles_is_that_of_the_art(monkeypatch):
    monkeypatch.syspath_prepend(CARTRIDGE)
    import assets

    width, height, pixels = assets.sheet(CARTRIDGE / "art", "".join(SIGNS))
    picture = Image.open(WORLDS / "tiles.png").convert("RGB")
    assert picture.size == (width, height)
    assert picture.tobytes() == pixels


# --- graph and layout ---------------------------------------------------------------


@given(SEEDS, SIZE)
def test_each_lock_needs_only_what_lies_in_earlier_regions(seed, rooms):
    plan = draw_plan(Random(seed), rooms)
    owned = {*plan.regions[0].gives}
    for region in plan.regions[1:]:
        assert region.parent is not None
        assert region.lock is not None
        assert region.parent < region.index
        assert region.lock.needs <= owned
        owned |= {*region.gives}
    assert owned >= {"sword", *plan.tools, "gnarled_key"}


@given(SEEDS, SIZE)
def test_each_key_of_the_dungeon_lies_before_its_door(seed, rooms):
    plan = draw_plan(Random(seed), rooms)
    doors = [it for it in plan.dungeon if it.lock and "small_key" in it.lock.needs]
    for number, region in enumerate(doors):
        assert "small_key" in plan.dungeon[number].gives
        assert region.parent == number
    assert "boss_key" in doors[-1].gives
    assert sum(region.rooms for region in (*plan.regions, *plan.dungeon)) + 2 == (
        rooms - plan.houses - plan.caves
    )


@given(SEEDS, SIZE, st.booleans())
def test_regions_meet_only_by_their_locks(seed, rooms, deep):
    rng = Random(seed)
    plan = draw_plan(rng, rooms)
    regions = plan.dungeon if deep else plan.regions
    layout = Layout(rng, *(DUNGEON_GRID if deep else GRID), middle=deep)
    try:
        layout.draw(regions, (3, 4))
    except CrampedError:
        return
    assert Counter(layout.region_of.values()) == {it.index: it.rooms for it in regions}
    locks = [passage.lock for passage in layout.passages if passage.lock]
    assert locks == [region.lock for region in regions if region.lock]
    for passage in layout.passages:
        ends = passage.cell, beyond(passage.cell, passage.direction)
        first, second = (layout.region_of[cell] for cell in ends)
        assert (first == second) == (passage.lock is None)


# --- rooms and texts -------------------------------------------------------------------


@given(SEEDS, st.sets(st.sampled_from(INSIDE), min_size=2, max_size=6))
def test_decoration_closes_no_path(seed, spots):
    canvas = Canvas(Random(seed), "T", ".")
    try:
        for spot in spots:
            canvas.keep(spot)
        canvas.connect(":")
    except NoRoomError:
        return
    canvas.scatter({"T": 0.9})
    reached, edge = {min(spots)}, [min(spots)]
    for row, column in edge:
        for to in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if to in canvas.kept and to not in reached:
                reached.add(to)
                edge.append(to)
    assert spots <= reached


def test_one_can_stand_below_every_chest(made):
    for room in made.tables.rooms:
        for row, column in (it.tile for it in room.of(Kind.CHEST)):
            assert "walk" in {way.how for way in SIGNS[room.rows[row + 1][column]].ways}


def test_no_enemy_stands_in_line_with_an_entrance(made):
    """A shot or a charge would drive out who has just come in."""
    for room in made.tables.rooms:
        out = {it.tile[1] for it in room.of(Kind.WARP) if it.tile[0] == ROWS - 1}
        assert not out & {it.tile[1] for it in room.of(Kind.ENEMY)}


@settings(max_examples=12, deadline=None)
@given(SEEDS)
def test_a_draw_that_finds_its_places_can_be_solved(seed):
    """Else most of the time of a world would go into draws that are rejected at the end."""
    try:
        tables = draw_world(Random(seed), 60)
    except (CrampedError, NoRoomError):
        return
    Solver(tables).solve()


def test_rooms_hold_what_the_engine_can_load(made):
    for room in made.tables.rooms:
        assert [len(row) for row in room.rows] == [10] * 8
        assert {*"".join(room.rows)} <= {*SIGNS}
        assert len(room.things) <= MAX_THINGS
        assert len(room.name) <= NAME_LETTERS
        assert all(
            0 <= row < 8 and 0 <= column < 10 for row, column in (it.tile for it in room.things)
        )


def test_no_two_rooms_look_the_same_and_none_share_a_name(made):
    drawn = [room for room in made.tables.rooms if room.name not in ("Gnarl's Den", "Seed Hall")]
    assert len({room.rows for room in drawn}) == len(drawn)
    assert len({room.name for room in made.tables.rooms}) == len(made.tables.rooms)


def test_doors_lead_to_free_tiles(made):
    for room in made.tables.rooms:
        for it in room.of(Kind.WARP):
            row, column = divmod(it.c, 16)
            sign = made.tables.room((it.a, it.b)).rows[row][column]
            assert "walk" in {way.how for way in SIGNS[sign].ways}


def fits(text):
    pages = [page.split("\n") for page in text.split("\f")]
    return (
        len(text) <= TEXT_LETTERS
        and max(map(len, pages)) <= PAGE_LINES
        and max(len(line) for page in pages for line in page) <= LINE_LETTERS
    )


def test_texts_fit_their_box(made):
    assert all(map(fits, made.tables.texts))


@given(st.lists(st.text("abcxyz", min_size=1, max_size=LINE_LETTERS), min_size=1, max_size=25))
def test_breaking_a_text_keeps_its_words(words):
    try:
        text = broken(" ".join(words))
    except ValueError:
        return
    assert fits(text)
    assert text.split() == words


# --- solution and records ----------------------------------------------------------


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 99_999), SIZE)
def test_any_seed_and_size_gives_a_world_that_can_be_solved(seed, rooms):
    made = make_world(seed, rooms)
    assert len(made.tables.rooms) == rooms
    assert Solver(read_tables(made.rom)).solve()[-1].goal.what == "essence"


def test_a_size_or_seed_that_is_not_drawn_is_refused():
    for seed, rooms in ((1, MIN_ROOMS - 1), (1, MAX_ROOMS + 1), (-1, 30)):
        with pytest.raises(ValueError, match="20 to 120"):
            make_world(seed, rooms)


@pytest.mark.parametrize("item", ["sword", "gnarled_key", "small_key", "boss_key"])
def test_the_solver_is_not_content_with_less(item):
    """The objective of each item is needed: a world without it cannot be solved."""
    tables = make_world(1, 30).tables
    number = Treasure[item.upper()]
    rooms = tuple(
        replace(
            room,
            things=tuple(
                it for it in room.things
                if (it.kind, it.a) != (Kind.CHEST, number)
                and not (item == "sword" and it.kind == Kind.NPC)
                and not (item == "small_key" and it.kind == Kind.SOLVE)
            ),
        )
        for room in tables.rooms
    )  # fmt: skip
    with pytest.raises(UnsolvableError):
        Solver(replace(tables, rooms=rooms)).solve()


def test_the_records_of_the_embedded_game_are_those_that_are_shipped():
    """Otherwise `python libs/game/cartridge/build.py --world` writes them."""
    shipped = world_json("seedling-vale")
    assert shipped is not None
    world = json.loads(shipped)
    assert json.loads(json.dumps(Facts(engine()).world("seedling-vale"))) == world
    assert tuple(it["text"] for it in world["objectives"]) == guide_of("seedling-vale").objectives
    assert world["objectives"][-1]["done"] == {"essences": 1}
    assert world["distances"]["0/119"] == 0


def test_coins_are_gathered_where_the_solution_finds_them_and_for_what_it_buys(made):
    for it in made.facts["objectives"]:
        if it.get("item") != "rupees":
            continue
        later = made.facts["objectives"][it["number"] :]
        assert it["done"]["items"] == [each["item"] for each in later if each["what"] == "shop"]
        assert it["done"]["rupees"] <= max(place["rupees"] for place in it["places"])
        assert it["tile"] in [place["tile"] for place in it["places"]]
        assert later[0].get("item") != "rupees"


def test_what_an_objective_opens_is_out_of_reach_before(made):
    entered: set[str] = set()
    for it in made.facts["objectives"]:
        if it["what"] in ("door", "lever"):
            assert entered.isdisjoint(it["done"]["rooms"])
        entered |= {*it["route"]["rooms"]}


def test_guide_and_world_agree(made):
    written, world = guide(made.facts), made.facts
    assert parse_objectives(written) == tuple(it["text"] for it in world["objectives"])
    for room in world["rooms"]:
        assert room["name"] in written
    rooms = {room["room"] for room in world["rooms"]}
    assert {*world["distances"]} == rooms
    assert {it["room"] for it in world["objectives"]} <= rooms
    assert len({it["name"] for it in world["milestones"]}) == len(world["milestones"])
    for it in world["objectives"]:
        assert it["done"], it["text"]


def test_a_lock_names_all_ways_to_pass_it(made):
    maps = {room["room"]: room["map"] for room in made.facts["rooms"]}
    for lock in (it for it in made.facts["locks"] if it["sign"] == "j"):
        rows = maps[lock["room"]]
        if lock["side"] in ("north", "south"):
            rows = ["".join(column) for column in zip(*rows, strict=True)]
        too_wide = any("jj" in row for row in rows)
        assert [each["how"] for each in lock["ways"]] == ["walk"] + ["jump"] * (not too_wide)


def test_all_that_people_may_say_is_in_the_guide(made):
    written = guide(made.facts)
    for room in made.tables.rooms:
        for person in room.of(Kind.NPC):
            later = [said for text, *_, said in made.tables.talks if text == person.b]
            for number in (person.b, *later):
                assert " ".join(made.tables.texts[number].split()) in written


def test_routes_lead_from_the_start_to_the_essence_over_ways_and_doors(made):
    world = made.facts
    beside = {
        room["room"]: {*room["ways"].values(), *(door["to"] for door in room["doors"])}
        for room in world["rooms"]
    }
    here = world["start"]["room"]
    for it in world["objectives"]:
        for there in it["route"]["rooms"]:
            assert there in beside[here]
            here = there
        if it["what"] != "shop":  # which is left after each purchase
            assert here == it["room"]


def test_a_seed_is_for_one_use_alone():
    uses = [use_of(seed) for seed in range(4000)]
    assert {*uses} == {"development", "tuning", "testing", "none"}
    changes = [use for use, before in zip(uses[1:], uses, strict=False) if use != before]
    assert changes == ["development", "tuning", "testing", "none"]  # each is one range
    assert make_world(5, 20).facts["use"] == "development"


# --- in use -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cartridge(tmp_path_factory):
    return load_cartridge(tmp_path_factory.mktemp("worlds") / "world-5-20" / "world.gbc")


def test_the_cartridge_of_a_world_is_generated_when_it_is_first_read(cartridge):
    made = make_world(5, 20)
    assert cartridge.data == made.rom
    assert (cartridge.game, cartridge.title) == ("world-5-20", "world-5-20")
    assert not cartridge.needs_sound
    folder = cartridge.path.parent
    assert json.loads((folder / "world.json").read_text())["game"] == "world-5-20"
    assert [file.name for file in folder.parent.iterdir()] == ["world-5-20"]


@pytest.mark.parametrize(
    "name", ["world-5-20/other.gbc", "worlds/world.gbc", "world-5-9/world.gbc"]
)
def test_nothing_is_generated_for_other_paths(tmp_path, name):
    with pytest.raises(CartridgeError, match="no ROM at"):
        load_cartridge(tmp_path / name)


def test_a_world_of_another_version_is_replaced_with_its_records(tmp_path):
    folder = tmp_path / "world-5-20"
    made = make_world(6, 20)
    provide(folder, made.rom)
    assert load_cartridge(folder / "world.gbc").data == made.rom
    provide(folder, make_world(5, 20).rom)
    assert (folder / "guide.md").read_text() == guide(make_world(5, 20).facts)


def test_names_and_texts_of_a_world_are_known(cartridge):
    words, tables = words_of(cartridge.game, cartridge.data), read_tables(cartridge.data)
    assert words.rooms == {room.key: room.name for room in tables.rooms}
    assert {*words.rooms.values()} <= NAMED_PLACES
    assert "The Briar Blade! Press A to swing it." in words.texts.values()


def test_the_milestones_of_a_world_are_its_objectives_and_what_else_lies_in_chests(cartridge):
    story, facts = story_of(cartridge.game, cartridge.data), make_world(5, 20).facts
    assert [step.name for step in story.milestones] == [it["name"] for it in facts["milestones"]]
    assert {"briar_blade", "gnarl", "sun_seed"} <= story.main_names
    assert len(story.main_names) < len(story.milestones)


def test_judges_and_planners_read_the_guide_beside_the_cartridge(cartridge, monkeypatch):
    monkeypatch.setattr("rlaif.guides.guides._worlds", cartridge.path.parent.parent)
    found = guide_of("world-5-20")
    assert found.text == guide(make_world(5, 20).facts)
    assert found.objectives[-1].startswith("Take the Sun Seed")
    assert guide_of("world-4-20").objectives == guide_of("../world-5-20").objectives == ()
