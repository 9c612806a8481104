"""Planner control of single environments, and of several at once."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Answer, Macro, MoveTo, Plan
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.assist.takeover import AssistanceParts, Situation, mode_of
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.followers.crossing_learner import CrossingLearner
from rlaif.trainer.play.game_env import Scene
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.planner import TakeoverSettings

WHOSE = 0xC001
"""A byte that no part of the game reads: the number of the environment whose RAM this is."""

_BUTTON_TILE, _DUNGEON_TABLE = 0x0C, 3


class WrittenGame:
    """What an assistance needs of a game: RAM that a test writes, facts, counters."""

    def __init__(self, number: int = 0) -> None:
        self._wram = bytearray(0x2000)
        self.emulator: Any = SimpleNamespace(
            has_banks=False,
            wram=lambda: bytes(self._wram),
            screen=lambda: np.zeros((144, 160, 3), dtype=np.uint8),
        )
        self.steps = 0
        self._before: GameFacts | None = None
        self.poke(WHOSE, number)
        self._poke("wSavefileString", SAVEFILE_STRING)
        for name in ("wCutsceneIndex", "wScrollMode", "w1Link.state", "wLinkHealth"):
            self._poke(name, 1)
        self._poke("wGameState", 2)
        self._poke("wActiveCollisions", _DUNGEON_TABLE)
        self.walk()
        self.end_step()

    def poke(self, where: int, value: int | bytes) -> None:
        """Write at an address; the scene is another one."""
        data = bytes([value]) if isinstance(value, int) else value
        self._wram[where - 0xC000 : where - 0xC000 + len(data)] = data
        ram = RamBlocks(bytes(self._wram))
        self.facts = read_facts(ram)
        self.scene = Scene(ram, self._before or self.facts)

    def end_step(self) -> None:
        self._before = self.facts

    def walk(self, room: int = 1) -> None:
        """Plain play in a room."""
        self._poke("wActiveRoom", room)
        self._poke("wTextIsActive", 0)
        self._poke("wRoomLayout", bytes(192))

    def read(self, text: int = 5) -> None:
        """A text is open."""
        self._poke("wTextIsActive", 1)
        self._poke("wTextIndex", (text + 0x0400).to_bytes(2, "little"))

    def puzzle(self, *columns: int, room: int = 1) -> None:
        """Buttons in these columns are up."""
        self.walk(room)
        for column in columns:
            self.poke(address("wRoomLayout") + column, _BUTTON_TILE)

    def _poke(self, name: str, value: int | bytes) -> None:
        self.poke(address(name), value)


def plan(env: int, *, steps: int = 3, fails: bool = False) -> Plan:
    """A plan that `TaggedExecutor` plays: for which environment, how long, and how it ends."""
    macros = (Answer(choice=env), MoveTo(column=steps, row=int(fails)))
    return Plan(reason="because", macros=macros, confidence=0.5)


class TaggedExecutor:
    """Presses the button with its environment's number, and checks whose RAM it gets."""

    def __init__(self, macros: tuple[Macro, ...]) -> None:
        self._macros, self._steps = macros, 0
        self.finished: list[Any] = []

    def next(self, ram: RamBlocks) -> Any:
        tag, length = self._macros
        assert isinstance(tag, Answer)
        assert isinstance(length, MoveTo)
        assert ram.u8(WHOSE) == tag.choice, "the RAM of another environment"
        self._steps += 1
        if self._steps <= (length.column or 0):
            return SimpleNamespace(
                over=False, status="running", action=Action(tag.choice), cause=None, reason=""
            )
        status, cause = ("failed", "no_progress") if length.row else ("done", None)
        self.finished.append(SimpleNamespace(macro=tag, status=status, cause=cause))
        return SimpleNamespace(over=True, status=status, action=Action.NOP, cause=cause, reason="")


class World:
    """Some written games with one assistance; the policy always presses `POLICY`."""

    POLICY = int(Action.START)

    def __init__(
        self,
        count: int,
        script: Callable[[PlannerQuestion], Any],
        rules: TakeoverSettings,
        *,
        at_once: bool = False,
        most_in_flight: int = 1_000_000,
    ) -> None:
        self.games = [WrittenGame(n) for n in range(count)]
        self.planner = ScriptedPlanner(script, at_once=at_once, most_in_flight=most_in_flight)
        self.reported_failed: list[tuple[str, ...]] = []
        self.assistance = Assistance(
            AssistanceParts(self.planner, rules, self._brief, self._execute),
            self.games,  # type: ignore[arg-type]  # they have what is used
            runner=1,
        )
        for n in range(count):
            self.assistance.begin_episode(n)
        self.by_planner: list[list[bool]] = []
        self.played: list[list[int]] = []

    def step(self, ended: Sequence[int] = ()) -> list[bool]:
        """One decision step of all; returns where the planner played."""
        by_planner = np.zeros(len(self.games), dtype=np.bool_)
        actions = np.full(len(self.games), self.POLICY, dtype=np.int64)
        played = self.assistance.before_step(actions, by_planner)
        assert (actions == self.POLICY).all(), "the policy's own choices are left as they are"
        for n, game in enumerate(self.games):
            game.steps += 1
            if n in ended:
                self.assistance.begin_episode(n)
                game.steps = 0
            else:
                self.assistance.walked(n, int(played[n]))
        self.assistance.after_step(ended)
        for game in self.games:
            game.end_step()
        self.by_planner.append(by_planner.tolist())
        self.played.append(played.tolist())
        return self.by_planner[-1]

    def steps(self, count: int) -> list[list[bool]]:
        return [self.step() for _ in range(count)]

    def takes_over(self, n: int) -> bool:
        return n in self.assistance._running

    def _brief(self, ram: RamBlocks, graph: RoomGraph, failed: Sequence[str]) -> Briefing:
        self.reported_failed.append(tuple(failed))
        return Briefing(room=str(ram.u8(address("wActiveRoom"))), failed=tuple(failed))

    def _execute(self, macros: tuple[Macro, ...], graph: RoomGraph) -> Any:
        if isinstance(macros[0], MoveTo):
            raise ValueError("nothing to carry out")
        return TaggedExecutor(macros)


QUICK = TakeoverSettings(share=1.0, max_steps=6, rest_steps=5)


def one(rules: TakeoverSettings = QUICK, **answer: Any) -> World:
    """One environment whose planner answers immediately."""
    return World(1, lambda asked: plan(asked.env, **answer), rules, at_once=True)


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


@pytest.mark.parametrize("change", ["room", "text", "solved", "plain", "episode"])
def test_a_plan_for_an_earlier_situation_is_dropped_and_counted(change: str):
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


def test_each_consecutive_failure_pauses_longer():
    world = one(TakeoverSettings(share=1.0, rest_steps=4), steps=1, fails=1)
    world.games[0].puzzle(3)
    world.steps(80)
    starts = [at for at, who in enumerate(columns(world)) if who == "x"]
    pauses = [after - before for before, after in itertools.pairwise(starts)]
    assert pauses == sorted(pauses)
    assert pauses[1] > 1.5 * pauses[0]
    assert world.assistance.end_fragment().takeovers["puzzle"] == {"no_progress": len(starts)}


def test_the_next_question_about_the_room_reports_what_failed_there():
    world = one(TakeoverSettings(share=1.0, rest_steps=1), steps=1, fails=1)
    world.games[0].puzzle(3)
    world.steps(12)
    assert world.reported_failed[:2] == [(), ("ANSWER choice=0: no_progress",)]
    first, second = world.planner.asked[:2]
    assert first.situation != second.situation, "no cache may give the plan that failed"
    world.games[0].puzzle(3, room=2)
    world.steps(30)
    assert () in world.reported_failed[2:]


def test_a_plan_that_changed_nothing_is_no_success():
    world = one(steps=1)
    world.games[0].puzzle(3)
    world.steps(6)
    account = world.assistance.end_fragment()
    assert account.takeovers == {"puzzle": {"no_effect": 1}}
    assert len(world.planner.asked) == 1, "it rests"


def test_a_plan_that_solves_it_is_a_success_without_a_pause():
    world = one(steps=2)
    world.games[0].puzzle(3)
    world.steps(5)
    world.games[0].walk()
    world.step()
    assert world.assistance.end_fragment().takeovers == {"puzzle": {"done": 1}}
    world.games[0].puzzle(4)
    world.step()
    assert len(world.planner.asked) == 2


@pytest.mark.parametrize("outcome", ["invalid", "timeout", "throttled", "refused", "error"])
def test_an_answer_without_a_plan_only_starts_a_pause(outcome: str):
    world = World(1, lambda _: outcome, QUICK, at_once=True)
    world.games[0].puzzle(3)
    world.steps(7)
    assert columns(world) == "." * 7
    assert len(world.planner.asked) == 1
    account = world.assistance.end_fragment()
    assert account.plans == {}
    assert [event.call for event in account.events] == [outcome]


def test_a_pause_of_dialogs_does_not_pause_puzzles():
    world = World(
        1, lambda asked: "timeout" if asked.mode == "dialog" else plan(0), QUICK, at_once=True
    )
    world.games[0].read()
    world.steps(5)
    world.games[0].puzzle(3)
    world.steps(5)
    assert [asked.mode for asked in world.planner.asked] == ["dialog", "puzzle"]
    assert columns(world)[-1] == "x"


def test_an_answer_that_never_comes_is_given_up():
    world = World(1, lambda asked: plan(asked.env), TakeoverSettings(share=1.0, patience_steps=9))
    world.games[0].puzzle(3)
    world.steps(20)
    assert len(world.planner.asked) == 2
    world.planner.answer(1)
    world.step()
    assert columns(world)[-1] == ".", "it is the first question's"
    assert world.assistance.end_fragment().plans == {"puzzle": {"stale": 1}}


def test_a_full_planner_gets_no_request_until_it_has_answered_one():
    world = World(2, lambda asked: plan(asked.env), QUICK, most_in_flight=1)
    for game in world.games:
        game.puzzle(3)
    world.steps(30)
    assert world.planner.counts().by_mode["puzzle"].not_asked == {"busy": 1}
    world.planner.answer()
    world.steps(2)
    assert [asked.env for asked in world.planner.asked] == [0, 1]


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


def test_requests_and_their_outcomes_are_reported():
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


def test_the_player_faces_where_it_walked_through_a_door():
    graph = RoomGraph()
    learner, game = CrossingLearner(graph), WrittenGame()
    before = game.facts._replace(x=40, y=50)
    learner.see(read_blocks(game.emulator), before, Action.NOP)
    for room, walked in enumerate((Action.RIGHT, Action.UP, Action.NOP), start=2):
        game.walk(room)
        learner.see(read_blocks(game.emulator), before, walked)
    assert [way.direction for way in graph] == [Action.RIGHT, Action.UP, Action.UP]


COUNT = 3
RULES = TakeoverSettings(share=0.4, max_steps=5, looks=3, rest_steps=4, patience_steps=25)

ENVS = st.integers(0, COUNT - 1)
ANSWERS = st.one_of(
    st.tuples(st.integers(0, 8), st.booleans()),
    st.sampled_from(["timeout", "invalid", "unplayable"]),
)


class SideBySide(RuleBasedStateMachine):
    """Three games, changed by chance; questions answered late, early, in any way, or never.

    A plan names the environment that asked for it, and its executor presses that number: what an
    environment plays says whose plan it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answer: Any = (3, False)
        self.world = World(COUNT, self._script, RULES, most_in_flight=2)
        self.looks: list[list[Any]] = [[] for _ in range(COUNT)]
        self.asked_at: dict[int, Situation | None] = {}
        self.known = 0
        self.steps = [0] * COUNT
        self.planned = [0] * COUNT
        self.in_a_row = [0] * COUNT
        self.answered = 0

    def _script(self, question: PlannerQuestion) -> Any:
        if isinstance(self.answer, str) and self.answer != "unplayable":
            return self.answer
        self.answered += 1
        if self.answer == "unplayable":
            return Plan(reason="", macros=(MoveTo(column=0, row=0),), confidence=0.0)
        steps, fails = self.answer
        return plan(question.env, steps=steps, fails=fails)

    @rule(n=ENVS, text=st.integers(0, 2))
    def somebody_speaks(self, n: int, text: int) -> None:
        self.world.games[n].read(text)

    @rule(n=ENVS, columns=st.sets(st.integers(0, 9), max_size=2), room=st.integers(1, 2))
    def a_room_with_or_without_something_to_solve(self, n: int, columns: set[int], room: int):
        self.world.games[n].puzzle(*columns, room=room)

    @rule(how=ANSWERS, number=st.integers(1, 2))
    def the_planner_answers(self, how: Any, number: int) -> None:
        self.answer = how
        self.world.planner.answer(number)

    @rule(times=st.integers(1, 6))
    def steps_are_played(self, times: int) -> None:
        for _ in range(times):
            self._step(())

    @rule(
        envs=st.sets(ENVS, min_size=1),
        steps=st.integers(0, 8),
        fails=st.booleans(),
        played=st.integers(0, 9),
    )
    def plans_arrive_in_time(self, envs: set[int], steps: int, fails: bool, played: int) -> None:
        """What chance alone seldom finds: asked, answered and played without a change between."""
        for n in envs:
            self.world.games[n].puzzle(n)
        for _ in range(RULES.looks):
            self._step(())
        self.answer = (steps, fails)
        self.world.planner.answer()
        for _ in range(played):
            self._step(())

    @rule(ended=st.sets(ENVS, min_size=1))
    def episodes_end(self, ended: set[int]) -> None:
        self._step(tuple(ended))

    @rule()
    def the_run_is_resumed(self) -> None:
        before = self.world.assistance.end_fragment()
        self.world.assistance.load_state_dict(self.world.assistance.state_dict())
        assert before.plans == self.world.assistance.end_fragment().plans
        self.looks = [[] for _ in range(COUNT)]
        self.in_a_row = [0] * COUNT

    def _step(self, ended: tuple[int, ...]) -> None:
        waiting = list(self.world.planner.waiting)
        was_running = [self.world.takes_over(n) for n in range(COUNT)]
        moment = [Situation.at(read_blocks(game.emulator)) for game in self.world.games]
        by_planner = self.world.step(ended)
        for n in range(COUNT):
            self._check_what_was_played(n, by_planner[n])
            if by_planner[n] and not was_running[n]:
                assert moment[n] is not None
                assert moment[n] == self.asked_at[n], "a stale plan was played"
                assert self.in_a_row[n] == 0
            self.in_a_row[n] = self.in_a_row[n] + 1 if by_planner[n] else 0
            self.steps[n] += 1
            self.planned[n] += by_planner[n]
            self._look(n, ended=n in ended)
        self._check_what_was_asked(waiting)

    def _check_what_was_played(self, n: int, by_planner: bool) -> None:
        pressed = self.world.played[-1][n]
        assert pressed == (n if by_planner else World.POLICY), "another environment's button"

    def _look(self, n: int, *, ended: bool) -> None:
        if ended:
            self.looks[n], self.asked_at[n] = [], None
            self.steps[n] = self.planned[n] = self.in_a_row[n] = 0
            return
        self.looks[n].append(mode_of(read_blocks(self.world.games[n].emulator)))

    def _check_what_was_asked(self, waiting: list[PlannerQuestion]) -> None:
        for question in self.world.planner.asked[self.known :]:
            n = question.env
            others = [each for each in waiting if each.env == n and self._is_young(each)]
            assert not others, "two at a time"
            assert self._counts(n) == question.mode, "asked before the looks agreed"
            assert not self.world.takes_over(n)
            assert self.planned[n] <= RULES.share * self.steps[n]
            self.asked_at[n] = Situation.at(read_blocks(self.world.games[n].emulator))
        self.known = len(self.world.planner.asked)

    def _is_young(self, question: PlannerQuestion) -> bool:
        """Old ones are given up."""
        return self.steps[question.env] - question.asked_step <= RULES.patience_steps

    def _counts(self, n: int) -> Any:
        """The mode by the definition: the last one on which three looks in a row agreed."""
        mode = None
        for end in range(RULES.looks, len(self.looks[n]) + 1):
            last = set(self.looks[n][end - RULES.looks : end])
            mode = last.pop() if len(last) == 1 else mode
        return mode

    @invariant()
    def no_takeover_is_longer_than_its_budget(self) -> None:
        assert max(self.in_a_row) <= RULES.max_steps

    @invariant()
    def the_planner_has_its_share_and_one_takeover_at_most(self) -> None:
        for steps, planned in zip(self.steps, self.planned, strict=True):
            assert planned <= RULES.share * steps + RULES.max_steps

    @invariant()
    def every_plan_has_one_fate_and_every_takeover_one_end(self) -> None:
        account = self.world.assistance.end_fragment()
        fates = sum((Counter(each) for each in account.plans.values()), Counter())
        ends = sum((Counter(each) for each in account.takeovers.values()), Counter())
        undelivered = len(self.world.planner._ready)
        running = sum(self.world.takes_over(n) for n in range(COUNT))
        plans = sum(reply.plan is not None for reply in self.world.planner._ready)
        assert undelivered >= plans
        assert fates.total() == self.answered - plans
        assert fates["taken"] == ends.total() + running
        assert sum(account.planner_steps.values()) == sum(map(sum, self.world.by_planner))


TestSideBySide = SideBySide.TestCase
TestSideBySide.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
