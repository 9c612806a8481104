"""What is learned of the rooms: crossings, routes, one-way edges, the stored form."""

import json

import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomGraphError, RoomId
from rlaif.game.motion.room_watcher import RoomWatcher
from rlaif.testing.data.written_ram import written_ram

A, B, C, D = (RoomId(0, number) for number in range(4))


def crossing(start, end, *, kind="edge", direction=Action.RIGHT, place=(152, 64), to=(8, 64)):
    return Crossing(start, end, kind, direction, *place, *to)


def test_a_route_goes_over_the_crossings_in_order():
    graph = RoomGraph([crossing(B, C), crossing(A, B)])
    assert [c.end for c in graph.route(A, C) or []] == [B, C]
    assert graph.route(A, A) == []
    assert graph.route(A, D) is None


def test_the_shorter_of_two_ways_is_taken_by_pixels_not_by_rooms():
    far = crossing(A, C, direction=Action.UP, place=(152, 8), to=(8, 120))
    graph = RoomGraph(
        [far, crossing(A, B, place=(16, 64), to=(8, 64)), crossing(B, C, place=(24, 64))]
    )
    assert len(graph.route(A, C, x=16, y=64) or []) == 2
    assert graph.route(A, C, x=152, y=16) == [far]


def test_an_edge_is_assumed_to_lead_back_until_it_is_known_but_a_door_is_not():
    graph = RoomGraph([crossing(A, B)])
    back = graph.route(B, A)
    assert back is not None
    assert back[0].assumed
    assert back[0].direction == Action.LEFT
    graph.add_crossing(crossing(B, A, direction=Action.LEFT, place=(8, 64), to=(152, 64)))
    walked = graph.route(B, A)
    assert walked is not None
    assert not walked[0].assumed
    door = RoomGraph([crossing(A, B, kind="warp")])
    assert door.route(B, A) is None


def test_a_crossing_that_does_not_work_is_gone_round():
    direct, first, second = crossing(A, C), crossing(A, B, direction=Action.UP), crossing(B, C)
    graph = RoomGraph([direct, first, second])
    assert graph.route(A, C) == [direct]
    assert graph.route(A, C, without=[direct]) == [first, second]


def test_what_was_learned_survives_being_stored():
    graph = RoomGraph([crossing(A, B), crossing(B, C, kind="warp", direction=Action.UP)])
    again = RoomGraph.from_json(graph.to_json())
    assert set(again) == set(graph)
    assert again.to_json() == graph.to_json()


def test_beyond_its_bound_it_forgets_what_was_not_walked_for_longest():
    graph = RoomGraph(limit=2)
    graph.add_crossing(crossing(A, B))
    graph.add_crossing(crossing(B, C))
    assert not graph.add_crossing(crossing(A, B))  # walked again
    assert graph.add_crossing(crossing(C, D))
    assert {(c.start, c.end) for c in graph} == {(A, B), (C, D)}
    assert all(crossing.assumed for crossing in graph.leaving(B))
    assert graph.route(A, C) is None
    assert RoomGraph.from_json(graph.to_json()).to_json() == graph.to_json()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 2, "crossings": []}', '{"version": 1, "crossings": [{}]}'],
)
def test_something_else_is_refused(text):
    with pytest.raises(RoomGraphError):
        RoomGraph.from_json(text)


def test_a_stored_crossing_with_an_unknown_kind_is_refused():
    stored = json.loads(RoomGraph([crossing(A, B)]).to_json())
    stored["crossings"][0]["kind"] = "dream"
    with pytest.raises(RoomGraphError, match="dream"):
        RoomGraph.from_json(json.dumps(stored))


def ram(room, x, y, *, group=0, facing=1, control=True, health=12):
    return written_ram(
        ("wCutsceneIndex", int(control)), ("wScrollMode", 1 if control else 8),
        ("wLinkHealth", health), ("wActiveGroup", group), ("wActiveRoom", room),
        ("w1Link.xh", x), ("w1Link.yh", y), ("w1Link.direction", facing),
    )  # fmt: skip


def seen(*moments):
    watcher = RoomWatcher()
    return [found for moment in moments if (found := watcher.see(moment)) is not None]


def test_a_scroll_is_learned_as_an_edge_with_both_places():
    scroll = [ram(1, 150, 70), ram(1, 154, 70), ram(2, 6, 70, control=False), ram(2, 6, 70)]
    (found,) = seen(*scroll, ram(2, 10, 70))
    assert found == Crossing(RoomId(0, 1), RoomId(0, 2), "edge", Action.RIGHT, 154, 70, 6, 70)


def test_a_door_is_learned_with_the_tile_on_which_the_player_vanished():
    (found,) = seen(
        ram(1, 40, 60, facing=0),
        ram(1, 40, 56, facing=0, control=False),
        ram(9, 80, 104, group=3, facing=0),
    )
    assert (found.kind, found.direction, found.x, found.y) == ("warp", Action.UP, 40, 56)
    assert found.end == RoomId(3, 9)


def test_dying_teaches_no_way():
    assert not seen(ram(1, 40, 60), ram(1, 40, 60, health=0), ram(5, 80, 64))
