"""Decisions: their numbers, which make sense, and that every one of them ends."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.game.decisions.catalog import (
    AIMED,
    BUTTON,
    COUNT,
    DECISIONS,
    FIGHT,
    GO_TO,
    INTERACT,
    ITEM,
    ITEMS,
    LEAVE,
    WALK,
    Arm,
    go_to,
    in_arm,
    item,
)
from rlaif.game.decisions.mask import allowed
from rlaif.game.decisions.playing import MAX_STEPS, MAX_STEPS_OF_OTHERS, carry_out
from rlaif.game.machine.actions import ACTION_NAMES, Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.grid import TilePlace
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.things import KINDS, things

ARMS: tuple[Arm, ...] = ("seed", "buttons", "macros", "options")
SWORD, SHIELD, BOMBS, FEATHER = 0x05, 0x01, 0x03, 0x17
quick = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


Writes = list[tuple[str | int, int | bytes]]


def room(*solid: tuple[int, int, int], index: int = 0x02) -> Writes:
    """Writes of an open room, with solid tiles at (row, column) of an index."""
    collisions, layout = bytearray(192), bytearray([index]) * 192
    for row, column, tile in solid:
        collisions[row * 16 + column], layout[row * 16 + column] = 0x0F, tile
    return [("wRoomCollisions", bytes(collisions)), ("wRoomLayout", bytes(layout))]


def standing(x: int = 72, y: int = 64, facing: int = 2) -> Writes:
    return [("w1Link.xh", x), ("w1Link.yh", y), ("w1Link.direction", facing)]


def enemy(x: int, y: int, health: int = 2) -> Writes:
    body = bytearray(0x40)
    body[0x00], body[0x01], body[0x0B], body[0x0D], body[0x29] = 1, 0x34, y, x, health
    body[0x26] = body[0x27] = 6
    return [(0xD080, bytes(body))]


def names(can: np.ndarray) -> set[str]:
    return {DECISIONS[index].name for index in np.flatnonzero(can)}


class TestNumbers:
    def test_the_first_eight_are_the_buttons_of_a_capture(self):
        assert [DECISIONS[index].name for index in BUTTON] == list(ACTION_NAMES)
        assert [int(Action[DECISIONS[index].name]) for index in BUTTON] == list(BUTTON)

    def test_they_are_what_a_stored_lineage_means(self):
        """Changing one makes every stored lineage, demonstration and policy mean something else."""
        assert (range(8, 12), range(12, 16), 16, 17) == (WALK, AIMED, INTERACT, FIGHT)
        assert (range(18, 33), range(33, 37), range(37, 229), 229) == (ITEM, LEAVE, GO_TO, COUNT)
        assert ITEMS == (
            "sword", "shield", "bombs", "bombchus", "boomerang", "rod_of_seasons",
            "magnet_gloves", "slingshot", "shovel", "bracelet", "feather", "flute",
            "biggoron_sword", "fools_ore", "seed_satchel",
        )  # fmt: skip
        assert KINDS == (
            "bush", "rock", "pot", "snow", "sign", "soil", "switch", "block", "stump", "crack",
            "lock", "boss_lock", "chest", "torch", "lit_torch", "button", "door", "hole",
            "person", "item", "enemy",
        )  # fmt: skip

    def test_each_has_its_own_number_and_name(self):
        assert [decision.index for decision in DECISIONS] == list(range(COUNT))
        assert len({decision.name for decision in DECISIONS}) == COUNT

    def test_tiles_and_items_are_found_by_what_they_are(self):
        assert DECISIONS[go_to(TilePlace(3, 5))].tile == (3, 5)
        assert DECISIONS[item("feather")].item == "feather"
        with pytest.raises(ValueError, match="no item nothing"):
            item("nothing")

    def test_an_arm_has_whole_families(self):
        families = {
            arm: {DECISIONS[index].family for index in np.flatnonzero(in_arm(arm))} for arm in ARMS
        }
        assert families["seed"] == {"BUTTON"}
        assert families["buttons"] == {"BUTTON", "WALK", "AIMED", "ITEM"}
        assert in_arm("macros").all()
        assert families["options"] == families["macros"] - {"BUTTON"}


class TestMask:
    @settings(quick, max_examples=300)
    @given(
        arm=st.sampled_from(ARMS),
        wram=st.binary(min_size=64, max_size=64),
        seed=st.integers(0, 2**32 - 1),
    )
    def test_there_is_always_something_to_decide(self, arm, wram, seed):
        noise = np.random.default_rng(seed).integers(0, 256, 0x2000, dtype=np.uint8)
        noise[:64] = np.frombuffer(wram, dtype=np.uint8)
        can = allowed(RamBlocks(noise.tobytes()), arm)
        assert can.any()
        assert not (can & ~in_arm(arm)).any()

    def test_the_eight_buttons_of_the_seed_are_always_there(self, make_ram):
        for ram in (make_ram(), make_ram(play=False), make_ram(("wTextIsActive", 1))):
            assert np.array_equal(allowed(ram, "seed"), in_arm("seed"))

    def test_in_a_text_one_presses_or_reads_on(self, make_ram):
        can = allowed(make_ram(*room(), *standing(), ("wTextIsActive", 1)), "macros")
        assert names(can) == {*ACTION_NAMES, "INTERACT"}

    def test_in_a_question_who_has_no_buttons_moves_the_cursor_by_walking(self, make_ram):
        question = [("wTextIsActive", 1), ("wTextDisplayMode", 1)]
        can = allowed(make_ram(*room(), *standing(), *question), "options")
        assert names(can) == {"INTERACT", "WALK_UP", "WALK_DOWN", "WALK_LEFT", "WALK_RIGHT"}

    def test_after_a_death_there_is_a_way_on_for_every_arm(self, make_ram):
        dying = make_ram(*room(), *standing(), ("wLinkHealth", 0), ("wLinkDeathTrigger", 1))
        assert {"A", "START"} <= names(allowed(dying, "buttons"))
        assert names(allowed(dying, "options")) == {"INTERACT"}

    def test_who_has_items_as_decisions_opens_no_menu_but_closes_one(self, make_ram):
        place = [*room(), *standing()]
        assert "START" not in names(allowed(make_ram(*place), "macros"))
        assert "START" in names(allowed(make_ram(*place, ("wOpenedMenuType", 1)), "macros"))
        assert "START" in names(allowed(make_ram(*place), "buttons"))

    def test_only_what_is_at_hand_can_be_used(self, make_ram):
        ram = make_ram(
            *room(), *standing(),
            ("wInventoryA", SWORD), ("wInventoryStorage", bytes([FEATHER, BOMBS])),
        )  # fmt: skip
        items = {name for name in names(allowed(ram, "macros")) if name.startswith("ITEM")}
        assert items == {"ITEM_sword", "ITEM_feather"}  # bombs, but none left

    def test_a_fight_needs_a_blade_and_an_enemy(self, make_ram):
        place = [*room(), *standing()]
        blade = ("wInventoryA", SWORD)
        assert not allowed(make_ram(*place, blade), "macros")[FIGHT]
        assert not allowed(make_ram(*place, *enemy(100, 64)), "macros")[FIGHT]
        assert not allowed(make_ram(*place, blade, *enemy(100, 64, health=0)), "macros")[FIGHT]
        assert allowed(make_ram(*place, blade, *enemy(100, 64)), "macros")[FIGHT]

    def test_one_goes_to_things_that_a_way_leads_to(self, make_ram):
        chest, wall = 0xF1, 0x80
        closed = [(row, 7, wall) for row in range(8)]
        ram = make_ram(*room((2, 2, chest), (3, 9, chest), *closed), *standing())
        can = allowed(ram, "macros")
        assert can[go_to(TilePlace(2, 2))]
        assert not can[go_to(TilePlace(3, 9))]
        assert not can[go_to(TilePlace(5, 5))]  # nothing is there
        assert names(can) >= {"LEAVE_LEFT", "LEAVE_UP"}
        assert "LEAVE_RIGHT" not in names(can)

    @pytest.mark.parametrize(
        ("tile_set", "tile"), [(4, 0xF3), (0, 0x48)], ids=["a known hole", "an unknown hazard"]
    )
    def test_a_hole_is_something_for_who_can_jump(self, make_ram, tile_set: int, tile: int):
        collisions, layout = bytearray(192), bytearray([2]) * 192
        for row in range(8):
            collisions[row * 16 + 6], layout[row * 16 + 6] = 0x10, tile
        place = [
            ("wRoomCollisions", bytes(collisions)), ("wRoomLayout", bytes(layout)),
            ("wActiveCollisions", tile_set), *standing(),
        ]  # fmt: skip
        at = go_to(TilePlace(4, 6))
        assert not allowed(make_ram(*place), "macros")[at]
        assert allowed(make_ram(*place, ("wInventoryB", FEATHER)), "macros")[at]


class TestThings:
    def test_what_is_a_tile_and_what_is_an_object(self, make_ram):
        bush, sign = 0xC4, 0xF2
        ram = make_ram(*room((2, 2, bush), (3, 5, sign)), *standing(), *enemy(136, 40))
        assert [(thing.tile, thing.kind) for thing in things(ram)] == [
            ((2, 2), "bush"), ((2, 8), "enemy"), ((3, 5), "sign"),
        ]  # fmt: skip

    def test_a_chest_is_reached_from_below_alone(self, make_ram):
        chest, wall = 0xF1, 0x80
        ram = make_ram(*room((3, 6, chest), (4, 6, wall)), *standing())
        (thing,) = [thing for thing in things(ram) if thing.kind == "chest"]
        assert not thing.reachable


class TestPlaying:
    @settings(quick, max_examples=60)
    @given(index=st.sampled_from(range(COUNT)), seed=st.integers(0, 2**32 - 1))
    def test_it_ends_by_its_limit_and_stays_over_whatever_the_game_does(
        self, index, seed, make_ram
    ):
        rng = np.random.default_rng(seed)
        ram = noisy(rng, make_ram)
        option, pressed = carry_out(index, ram, graph=RoomGraph()), 0
        while not (choice := option.next(ram)).over:
            assert choice.action in list(Action)
            pressed += 1
            ram = noisy(rng, make_ram)
        assert 1 <= pressed <= MAX_STEPS.get(DECISIONS[index].family, MAX_STEPS_OF_OTHERS)
        assert option.next(noisy(rng, make_ram)) == choice

    @settings(quick, max_examples=60)
    @given(index=st.sampled_from(range(COUNT)), seed=st.integers(0, 2**32 - 1))
    def test_the_same_moments_give_the_same_buttons(self, index, seed, make_ram):
        def buttons():
            rng = np.random.default_rng(seed)
            ram = noisy(rng, make_ram)
            option = carry_out(index, ram, graph=RoomGraph())
            for _ in range(30):
                choice = option.next(ram)
                yield choice
                ram = noisy(rng, make_ram)

        assert list(buttons()) == list(buttons())

    @pytest.mark.parametrize("index", list(BUTTON))
    def test_a_button_is_one_base_step(self, index, make_ram):
        ram = make_ram(*room(), *standing())
        option = carry_out(index, ram, graph=RoomGraph())
        assert option.next(ram).action == index
        assert option.next(ram).status == "done"

    def test_a_death_ends_it(self, make_ram):
        place = [*room(), *standing()]
        option = carry_out(LEAVE.start, make_ram(*place), graph=RoomGraph())
        assert not option.next(make_ram(*place)).over
        choice = option.next(make_ram(*place, ("wLinkHealth", 0)))
        assert (choice.status, choice.cause) == ("failed", "died")

    def test_a_walk_ends_at_a_wall(self, make_ram):
        ram = make_ram(*room((4, 5, 0x80)), *standing(), ("w1Link.direction", 1))
        option = carry_out(WALK.start + Action.RIGHT, ram, graph=RoomGraph())
        assert option.next(ram).action == Action.RIGHT
        assert option.next(ram).status == "done"

    def test_a_walk_continues_against_a_block(self, make_ram):
        block = 0x1C
        ram = make_ram(
            *room((4, 5, block)), *standing(), ("w1Link.direction", 1), ("wActiveCollisions", 4)
        )
        option, pressed = carry_out(WALK.start + Action.RIGHT, ram, graph=RoomGraph()), 0
        while not option.next(ram).over:
            pressed += 1
        assert pressed * 4 >= 20 + 3  # frames until it moves, and a part of the first step


def noisy(rng: np.random.Generator, make_ram) -> RamBlocks:
    """A moment of a game that does anything: mostly play, now and then a text or a fade."""
    noise = rng.integers(0, 256, 384, dtype=np.uint8).tobytes()
    x, y, kind, slots = (int(byte) for byte in rng.integers(0, 256, 4))
    writes = [*standing(x, y, kind & 3), ("wInventoryA", SWORD), ("wInventoryB", FEATHER)]
    writes += [("wRoomCollisions", noise[:192]), ("wRoomLayout", noise[192:])]
    if slots & 1:
        writes += enemy(int(rng.integers(256)), int(rng.integers(256)))
    if kind > 250:
        writes.append(("wTextIsActive", 1))
    elif kind > 245:
        writes.append(("wPaletteThreadMode", 1))
    return make_ram(*writes)
