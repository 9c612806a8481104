"""Planner control of single environments: requests, play, end, pause, report."""

import itertools
from typing import Any

import pytest

from rlaif.contracts.planning.plans import MoveTo, Plan
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.testing.takeover_world import World, WrittenGame, plan
from rlaif.trainer.play.assist.assistance import REJECTED_REST, WayLearner
from rlaif.trainer.settings.planner import TakeoverSettings

QUICK = TakeoverSettings(share=1.0, max_steps=6, rest_steps=5)


def one(settings: TakeoverSettings = QUICK, **answer: Any) -> World:
    """One environment whose planner answers as soon as it is asked."""
    return World(1, lambda asked: plan(asked.env, **answer), settings, at_once=True)


def columns(world: World) -> str:
    """Who played each step: `.` the policy, `x` the planner."""
    return "".join("x" if row[0] else "." for row in world.by_planner)


def test_a_dialog_is_asked_about_at_the_third_look_and_the_plan_played_to_its_end():
    world = one(steps=4)
    world.steps(2)
    world.games[0].read()
    world.steps(7)
    world.games[0].walk()
    world.steps(3)
    assert columns(world) == "..." + ".." + "xxxx" + "..."
    assert [row[0] for row in world.played[5:9]] == [0, 0, 0, 0], "the planner's button"
    assert world.played[0][0] == World.POLICY
    assert world.planner.asked[0].mode == "dialog"
    assert world.planner.asked[0].kind == "plan"


def test_the_policy_plays_while_an_answer_is_on_its_way():
    world = World(1, lambda asked: plan(asked.env), QUICK)
    world.games[0].puzzle(3)
    world.steps(50)
    assert columns(world) == "." * 50
    assert len(world.planner.asked) == 1, "one question at a time"
    world.planner.answer()
    world.step()
    assert columns(world)[-1] == "x"


def test_each_of_several_takeovers_at_once_plays_its_own_plan():
    world = World(3, lambda asked: plan(asked.env, steps=2 + asked.env), QUICK, at_once=True)
    world.games[0].puzzle(3)
    world.games[2].puzzle(3)
    world.steps(8)
    assert [row.count(True) for row in zip(*world.by_planner, strict=True)] == [2, 0, 4]
    policy = World.POLICY
    assert [row[0] for row in world.played] == [policy] * 3 + [0] * 2 + [policy] * 3
    assert [row[2] for row in world.played] == [policy] * 3 + [2] * 4 + [policy]


@pytest.mark.parametrize("change", ["room", "text", "solved", "plain", "episode"])
def test_a_plan_for_what_is_no_more_is_dropped_and_counted(change: str):
    world = World(1, lambda asked: plan(asked.env), QUICK)
    game = world.games[0]
    game.read() if change == "text" else game.puzzle(3, 4)
    world.steps(4)
    if change == "room":
        game.puzzle(3, 4, room=2)
    elif change == "text":
        game.read(6)
    elif change == "solved":
        game.puzzle(4)
    elif change == "plain":
        game.walk()
    else:
        world.step(ended=[0])
    world.planner.answer()
    world.step()
    assert not any(row[0] for row in world.by_planner)
    account = world.assistance.end_fragment()
    mode = "dialog" if change == "text" else "puzzle"
    assert account.plans == {mode: {"stale": 1}}
    assert account.events[-1].ending == "stale"
    assert account.events[-1].followed is False


def test_a_takeover_ends_when_its_steps_are_spent():
    world = one(steps=10)
    world.games[0].puzzle(3)
    world.steps(12)
    assert columns(world).startswith("...xxxxxx.")
    assert world.assistance.end_fragment().takeovers == {"puzzle": {"budget": 1}}


def test_a_failure_rests_for_longer_each_time_in_a_row():
    world = one(TakeoverSettings(share=1.0, rest_steps=4), steps=1, fails=1)
    world.games[0].puzzle(3)
    world.steps(80)
    starts = [at for at, who in enumerate(columns(world)) if who == "x"]
    pauses = [after - before for before, after in itertools.pairwise(starts)]
    assert pauses == sorted(pauses)
    assert pauses[1] > 1.5 * pauses[0]
    assert world.assistance.end_fragment().takeovers["puzzle"] == {"no_progress": len(starts)}


def test_the_next_question_about_the_room_tells_what_failed_there():
    world = one(TakeoverSettings(share=1.0, rest_steps=1), steps=1, fails=1)
    world.games[0].puzzle(3)
    world.steps(12)
    assert world.told_failed[:2] == [(), ("ANSWER choice=0: no_progress",)]
    first, second = world.planner.asked[:2]
    assert first.situation != second.situation, "no cache may give the plan that failed"
    world.games[0].puzzle(3, room=2)
    world.steps(30)
    assert () in world.told_failed[2:]


def test_a_plan_that_changed_nothing_is_no_success():
    world = one(steps=1)
    world.games[0].puzzle(3)
    world.steps(6)
    account = world.assistance.end_fragment()
    assert account.takeovers == {"puzzle": {"no_effect": 1}}
    assert world.assistance._takeovers[0].state == "resting"


def test_a_plan_that_solves_it_is_a_success_without_a_rest():
    world = one(steps=2)
    world.games[0].puzzle(3)
    world.steps(5)
    world.games[0].walk()
    world.step()
    assert world.assistance.end_fragment().takeovers == {"puzzle": {"done": 1}}
    world.games[0].puzzle(4)
    world.step()
    assert world.assistance._takeovers[0].state == "asked"


@pytest.mark.parametrize("outcome", ["invalid", "timeout", "throttled", "refused", "error"])
def test_an_answer_without_a_plan_changes_nothing_but_a_rest(outcome: str):
    world = World(1, lambda _: outcome, QUICK, at_once=True)
    world.games[0].puzzle(3)
    world.steps(7)
    assert columns(world) == "." * 7
    assert len(world.planner.asked) == 1
    account = world.assistance.end_fragment()
    assert account.plans == {}
    assert [event.call for event in account.events] == [outcome]


def test_macros_that_cannot_be_played_are_refused():
    empty = Plan(reason="", macros=(MoveTo(column=1, row=1),), confidence=1.0)
    world = World(1, lambda _: empty, QUICK, at_once=True)
    world.games[0].puzzle(3)
    world.steps(5)
    assert world.assistance.end_fragment().plans == {"puzzle": {"refused": 1}}


def test_a_rest_from_dialogs_is_none_from_puzzles():
    world = World(
        1, lambda asked: "timeout" if asked.mode == "dialog" else plan(0), QUICK, at_once=True
    )
    world.games[0].read()
    world.steps(5)
    world.games[0].puzzle(3)
    world.steps(5)
    assert [asked.mode for asked in world.planner.asked] == ["dialog", "puzzle"]
    assert columns(world)[-1] == "x"


def test_without_a_share_nothing_is_asked():
    world = one(TakeoverSettings(share=0.0))
    world.games[0].puzzle(3)
    world.steps(20)
    assert world.planner.asked == []


def test_an_answer_that_never_comes_is_given_up():
    world = World(1, lambda asked: plan(asked.env), TakeoverSettings(share=1.0, patience_steps=9))
    world.games[0].puzzle(3)
    world.steps(20)
    assert len(world.planner.asked) == 2
    world.planner.answer(1)
    world.step()
    assert columns(world)[-1] == ".", "it is the first question's"
    assert world.assistance.end_fragment().plans == {"puzzle": {"stale": 1}}


def test_a_planner_that_is_full_is_left_alone_until_it_has_answered_somebody():
    world = World(2, lambda asked: plan(asked.env), QUICK, most_in_flight=1)
    for game in world.games:
        game.puzzle(3)
    world.steps(30)
    assert world.planner.counts().by_mode["puzzle"].not_asked == {"busy": 1}
    world.planner.answer()
    world.steps(2)
    assert [asked.env for asked in world.planner.asked] == [0, 1]


def test_a_planner_that_refuses_is_asked_again_after_a_while():
    world = World(1, lambda asked: plan(asked.env), QUICK, most_in_flight=0)
    world.games[0].puzzle(3)
    world.steps(2 * REJECTED_REST + 10)
    assert world.planner.counts().by_mode["puzzle"].not_asked == {"busy": 3}
    assert world.told_failed == [], "what is refused is not described before"


def test_a_resumed_run_drops_what_was_under_way_and_keeps_what_was_spent():
    world = one(TakeoverSettings(share=0.5, max_steps=30), steps=10)
    world.games[0].puzzle(3)
    world.steps(8)
    assert columns(world)[-1] == "x"
    saved = world.assistance.state_dict()
    again = one(TakeoverSettings(share=0.5, max_steps=30), steps=10)
    again.games[0].puzzle(3)
    again.assistance.load_state_dict(saved)
    again.steps(3)
    assert columns(again) == "...", "5 of 8 steps were the planner's: more than its share"
    world.assistance.load_state_dict(saved)
    assert world.assistance.end_fragment().takeovers == {"puzzle": {"resumed": 1}}
    world.step()
    assert columns(world)[-1] == "."


def test_what_was_wanted_and_what_came_of_it_is_told():
    world = one(steps=2)
    world.games[0].puzzle(3)
    world.steps(5)
    world.games[0].walk()
    world.step()
    (event,) = world.assistance.end_fragment().events
    assert event.env == "1-0"
    assert event.wanted == ("ANSWER choice=0", "MOVE_TO column=2 row=0")
    assert (event.reason, event.ending, event.followed, event.steps) == ("because", "done", True, 2)
    assert event.latency_seconds == 0.5


def test_ways_between_rooms_are_learned_from_new_scenes_alone():
    world = one()
    game = world.games[0]
    world.steps(2)
    game.facts = game.facts._replace(x=80, y=8)  # walked there; the scene is the same
    world.step()
    game.walk(room=2)
    game.facts = game.facts._replace(x=80, y=120)
    world.step()
    (way,) = world.assistance.graph
    assert (way.start.room, way.end.room, way.x, way.y) == (1, 2, 80, 8)


def test_who_goes_through_a_door_faces_where_he_walked():
    graph = RoomGraph()
    learner, game = WayLearner(graph), WrittenGame()
    before = game.facts._replace(x=40, y=50)
    learner.see(read_blocks(game.emulator), before, Action.NOP)
    for room, walked in enumerate((Action.RIGHT, Action.UP, Action.NOP), start=2):
        game.walk(room)
        learner.see(read_blocks(game.emulator), before, walked)
    assert [way.direction for way in graph] == [Action.RIGHT, Action.UP, Action.UP]
