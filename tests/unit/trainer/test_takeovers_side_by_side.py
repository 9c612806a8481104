"""Whatever happens to several environments at once: hysteresis, budget, stale plans, no leak."""

from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rlaif.contracts.planning.plans import MoveTo, Plan
from rlaif.game.memory.blocks import read_blocks
from rlaif.testing.takeover_world import World, plan
from rlaif.trainer.play.assist.takeover import Situation, mode_of
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.settings.planner import TakeoverSettings

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
        was_running = [self.world.assistance.takes_over(n) for n in range(COUNT)]
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
            assert not self.world.assistance.takes_over(n)
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
        running = sum(self.world.assistance.takes_over(n) for n in range(COUNT))
        plans = sum(reply.plan is not None for reply in self.world.planner._ready)
        assert undelivered >= plans
        assert fates.total() == self.answered - plans
        assert fates["taken"] == ends.total() + running
        assert sum(account.planner_steps.values()) == sum(map(sum, self.world.by_planner))


TestSideBySide = SideBySide.TestCase
TestSideBySide.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
