import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.observation import TREASURE_SLOTS
from rlaif.contracts.game.segments import StateRecord
from rlaif.contracts.judging.evidence import Control, Dialog, Enemies, Evidence, Puzzle, Rooms, Span
from rlaif.judge.evidence.described import DescribedState, described
from rlaif.judge.evidence.summary import summarise, where_in_room

Make = Callable[..., Any]

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_names = st.sampled_from(
    ["room", "player", "rupees", "keys", "items", "flags", "rooms_visited", "entities", "puzzle",
     "game", "text", "dungeon_items", "essences"]
)  # fmt: skip


def test_a_walk_is_reported_as_distance_path_and_no_gain(records: Make) -> None:
    evidence = summarise(records())
    assert evidence.segment == Span(seconds=5.0, steps=75, inputs={"RIGHT": 1.0})
    assert evidence.movement.pixels == 74
    assert evidence.movement.idle_share == 0.0
    assert evidence.movement.path is not None
    assert (evidence.movement.path[0], evidence.movement.path[-1]) == ((20, 64), (94, 64))
    assert evidence.rooms.in_order == ("0/120",)
    assert evidence.changes.items_gained == ()


def test_waited_frames_count_as_time(records: Make) -> None:
    *steps, last = records()
    waited = last.model_copy(update={"frame": last.frame + 60})
    assert summarise([*steps, waited]).segment.seconds == 6.0


def test_gains_are_end_minus_start(records: Make, state: Make) -> None:
    end = state(
        1,
        rupees=15,
        keys=1,
        items=["sword", "boomerang"],
        rooms_visited=6,
        player={"x": 20, "y": 64, "hearts": 2.5, "max_hearts": 3},
    )
    evidence = summarise(records([state(0, keys=0), end]))
    changes = evidence.changes
    assert (changes.rupees, changes.keys, changes.hearts) == (5, 1, -0.5)
    assert changes.items_gained == ("boomerang",)
    assert evidence.rooms.first_visits == 2


def test_a_change_of_room_is_no_walked_distance(records: Make, state: Make) -> None:
    there = state(0, room={"group": 0, "room": 183}, player={"x": 150, "y": 64})
    evidence = summarise(records([state(0), there, there]))
    assert evidence.movement.pixels == 0
    assert evidence.movement.idle_share == 0.5
    assert evidence.rooms == Rooms(
        in_order=("0/120", "0/183"),
        places=("East Field", "other"),
        changes=1,
        different=2,
        first_visits=0,
    )


def test_dialogs_are_counted_by_steps_and_by_spells(records: Make, state: Make) -> None:
    spells = [False, True, True, False, True]
    states = [
        state(0, text_id=at if on else None, flags={"dialog": on, "menu": False, "control": not on})
        for at, on in enumerate(spells)
    ]
    evidence = summarise(records(states))
    assert evidence.dialog == Dialog(
        steps=3, opened=2, closed=1, texts=3, said=None, open_at_end=True
    )
    assert evidence.control == Control(steps_without=3, menu_steps=0)


def test_an_open_menu_is_counted(records: Make, state: Make) -> None:
    flags = {"dialog": False, "control": False}
    states = [state(0, flags=flags | {"menu": menu}) for menu in (False, True, True)]
    assert summarise(records(states)).control.menu_steps == 2


def test_standing_still_without_control_is_not_idle(records: Make, state: Make) -> None:
    still = [state(0, flags={"control": control}) for control in (True, True, False, False)]
    assert summarise(records(still)).movement.idle_share == 1.0
    helpless = [state(0, flags={"control": False})] * 3
    assert summarise(records(helpless)).movement.idle_share is None


def test_enemies_are_reported_as_near_and_as_defeated(records: Make, state: Make) -> None:
    enemy, item = {"kind": "enemy", "x": 1, "y": 1}, {"kind": "item", "x": 1, "y": 1}
    states = [
        state(0, entities=[enemy, enemy, item]),
        state(1, entities=[enemy], enemies_defeated=1, room={"enemies_left": 1}),
    ]
    assert summarise(records(states)).enemies == Enemies(most_near=2, left_at_end=1, defeated=1)


def test_puzzle_parts_are_reported_when_they_were_in_use(records: Make, state: Make) -> None:
    done = {"group": 0, "room": 120, "item_taken": False, "event_done": True}
    states = [
        state(0),
        state(1, puzzle={"buttons_pressed": 2, "torches_lit": 0}),
        state(2, room=done, puzzle={"buttons_pressed": 1, "torches_lit": 0}),
    ]
    assert summarise(records(states)).puzzle == Puzzle(
        parts={"buttons_pressed": (0, 2, 1)}, events_done=1, items_taken=0
    )


def test_entering_a_room_that_was_solved_before_is_no_solution(records: Make, state: Make) -> None:
    solved = {"group": 0, "room": 7, "item_taken": True, "event_done": True}
    evidence = summarise(records([state(0), state(1, room=solved)]))
    assert (evidence.puzzle.events_done, evidence.puzzle.items_taken) == (0, 0)


def test_a_moment_names_game_and_place_and_says_where_and_what_is_owned(
    records: Make, state: Make
) -> None:
    inside = state(
        100,
        place="Cross Hall",
        items=["sword", "feather"],
        dungeon_items=["map", "boss_key"],
        essences=1,
    )
    start, end = summarise(records([state(0), inside])).start, summarise(records([inside])).end
    assert (start.game, start.place, start.where) == ("seedling-vale", "East Field", "west part")
    assert (start.boss_key, start.essences, start.items) == (None, 0, ("sword",))
    assert (end.place, end.where, end.dungeon) == ("Cross Hall", "east part", 1)
    assert (end.boss_key, end.essences) == (True, 1)
    assert end.items == ("sword", "feather", "map")


def test_rooms_without_a_name_are_reported_by_their_area(records: Make, state: Make) -> None:
    outside = {"group": 0, "room": 1, "name": None, "area": "overworld"}
    cave = {"group": 4, "room": 2, "name": "Snake's Remains", "area": "underground"}
    game = {"game": "oracle-of-seasons"}
    both = summarise(records([state(0, room=outside, **game), state(0, room=cave, **game)]))
    assert both.rooms.places == ("overworld", "Snake's Remains")
    assert (both.start.game, both.start.place) == ("oracle-of-seasons", None)
    assert summarise(records([state(0, room=outside)])).rooms.places is None


def test_what_was_said_is_reported_once_each_in_order_and_four_at_most(
    records: Make, state: Make
) -> None:
    spoken = ["Hello, Pip!", "Hello, Pip!", None, "Dig here.", "Hello, Pip!", "Three", "4", "5"]
    dialog = summarise(records([state(0, says=text) for text in spoken])).dialog
    assert dialog.said == ("Hello, Pip!", "Dig here.", "Three", "4")
    assert (dialog.texts, dialog.opened) == (5, 1)


def test_nothing_said_is_known_and_unread_texts_are_unknown(records: Make, state: Make) -> None:
    silent, unread = state(0), state(0, says="") | {"text": None}
    assert summarise(records([silent, silent])).dialog.said == ()
    assert summarise(records([silent, unread])).dialog.said is None


def test_what_belongs_to_a_dungeon_is_gained_inside_of_it_only(records: Make, state: Make) -> None:
    outside = state(0)
    empty = state(0, place="Stone Vault")
    full = state(0, place="Stone Vault", dungeon_items=["map", "boss_key"])
    found = summarise(records([empty, full])).changes
    assert (found.items_gained, found.items_lost) == (("boss_key", "map"), ())
    entered = summarise(records([outside, full])).changes
    assert (entered.items_gained, entered.items_lost) == ((), ())
    left = summarise(records([full, outside])).changes
    assert (left.items_gained, left.items_lost) == ((), ())


def test_a_power_of_the_rod_is_an_item_where_each_is_an_objective_of_its_own(
    records: Make, state: Make
) -> None:
    def with_seasons(*seasons: str, game: str) -> Any:
        return state(0, game=game, items=["rod_of_seasons"], seasons_owned=[*seasons])

    def gained(game: str) -> Any:
        start, end = with_seasons("winter", game=game), with_seasons("summer", "winter", game=game)
        return summarise(records([start, end])).changes.items_gained

    assert gained("oracle-of-seasons") == ("power_of_summer",)
    assert gained("seedling-vale") == ()


def test_states_of_yesterday_are_read_and_what_they_lack_is_unknown(
    records: Make, state: Make
) -> None:
    def old(step: int) -> Any:
        reported = state(step)
        room = {k: v for k, v in reported["room"].items() if k not in {"name", "large"}}
        lacking = {"game", "text", "dungeon_items"}
        return {k: v for k, v in reported.items() if k not in lacking} | {"room": room}

    evidence = summarise(records([old(0), old(1)]))
    for moment in (evidence.start, evidence.end):
        assert (moment.game, moment.place, moment.where, moment.boss_key) == (None,) * 4
        assert (moment.room, moment.items) == ("0/120", ("sword",))
    assert evidence.rooms.places is None


def test_keys_of_two_dungeons_are_not_compared(records: Make, state: Make) -> None:
    def inside(dungeon: int, keys: int) -> Any:
        return state(0, keys=keys, room={"group": 4, "room": 1, "dungeon": dungeon})

    assert _keys(records([inside(1, 0), inside(1, 2)])) == 2
    assert _keys(records([inside(1, 0), inside(2, 2)])) is None


def _keys(made: list[DescribedState]) -> Any:
    return summarise(made).changes.keys


def test_what_the_states_do_not_say_is_unknown_and_never_zero(records: Make) -> None:
    evidence = summarise(records([{}, {}]))
    assert evidence == Evidence(segment=evidence.segment)
    assert all(
        value is None for section in Evidence().model_dump().values() for value in section.values()
    )


def test_rewards_ids_and_run_steps_never_reach_the_evidence(records: Make, state: Make) -> None:
    secret = {
        "reward": 77777,
        "total_reward": 77777,
        "env_step": 77777,
        "policy_version": "policy-77777",
        "segment_id": "seg-77777",
        "reward_model": {"potential": 77777},
    }
    reported = state(0, **secret, player={"x": 1, "y": 2, "hearts": 3, "reward": 77777})
    text = summarise(records([reported] * 75)).model_dump_json()
    assert "77777" not in text
    assert "reward" not in text
    assert "policy" not in text


def test_a_busy_segment_stays_within_eight_hundred_tokens(records: Make, state: Make) -> None:
    states = [
        state(
            step,
            says=f"{step} words and {'more ' * 50}",
            room={"group": step % 7, "room": 255 - step, "name": "Dancing Dragon Dungeon"},
            player={"x": 100 + step, "y": 144, "hearts": 13.25, "max_hearts": 16},
            items=[f"a very long item name {n}" for n in range(step)] + [*TREASURE_SLOTS] * 2,
            puzzle={f"trigger number {n}": n for n in range(30)}
            | {"buttons_pressed": 8, "switches_on": 8, "toggles_on": 8, "torches_lit": 8},
        )
        for step in range(75)
    ]
    text = summarise(records(states)).model_dump_json()
    # JSON of short words and numbers takes about 3 to 4 characters a token.
    assert len(text) < 2800


# The first text that hypothesis draws builds its table of characters, which takes seconds.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(_names, _json, max_size=6), min_size=1, max_size=5))
def test_any_state_gives_evidence_that_is_plain_json(states: list[dict[str, Any]]) -> None:
    made = [
        StateRecord.model_construct(step=at, frame=at, action="A", state=held)
        for at, held in enumerate(states)
    ]
    json.dumps(summarise(described(made)).model_dump(), allow_nan=False)


@pytest.mark.parametrize(
    ("at", "reported"),
    [((80, 64), "middle part"), ((30, 30), "north-west part"), ((80, 30), "north part"),
     ((130, 100), "south-east part"), ((30, 64), "west part"),
     ((9, 70), "west part, at the west edge"), ((150, 70), "east part, at the east edge"),
     ((88, 5), "north part, at the north edge"), ((88, 120), "south part, at the south edge"),
     ((150, 5), "north-east part, at the north and east edge")],
)  # fmt: skip
def test_one_of_nine_parts_and_the_edges_that_are_near(at: Any, reported: str) -> None:
    assert where_in_room(at, large=False) == reported


def test_a_large_room_has_larger_parts() -> None:
    assert where_in_room((150, 100), large=True) == "middle part"
    assert where_in_room((230, 170), large=True) == "south-east part, at the south and east edge"
