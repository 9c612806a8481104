"""One environment's takeovers: looks, replies and steps in, a planner's button or none out.

    idle       a mode counts and the budget allows it: asked
    asked      a plan that still fits: executing; a stale one, or none: resting
    executing  done: idle; failed, without effect, out of steps: resting
    resting    in that mode alone, for some steps: idle

The policy plays in every state but `executing`. An environment has one question under way at most,
and knows a reply as its own by the very question that it asked. Nothing waits or reads a clock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rlaif.contracts.assistance import AssistanceEvent
from rlaif.contracts.briefing import Briefing
from rlaif.contracts.plans import Macro, Mode, macro_words
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.play.assistance_figures import DONE, AssistanceFigures, PlanFate, reason, wanted
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion, PlannerReply
from rlaif.trainer.play.takeover.budget import NEVER, TakeoverBudget
from rlaif.trainer.play.takeover.situation import Situation
from rlaif.trainer.play.takeover.switch import PolicySwitch
from rlaif.trainer.settings.takeover import TakeoverSettings

State = Literal["idle", "asked", "executing", "resting"]

BUDGET, NO_EFFECT, EPISODE_OVER, RESUMED = "budget", "no_effect", "episode_over", "resumed"
"""How takeovers end besides `done` and the causes of options: their steps were spent; the plan was
played and the situation is the same; the episode ended; the run went on from a checkpoint."""

_MOST_FAILED = 4
"""Macros that are remembered as failed, for the next question about that room."""


class Chosen(Protocol):
    """One step of an executor: a button while it runs, or how it ended (`rlaif.game.skills`)."""

    @property
    def over(self) -> bool: ...  # as in `Choice`
    @property
    def status(self) -> str: ...
    @property
    def action(self) -> Action: ...
    @property
    def cause(self) -> str | None: ...
    @property
    def reason(self) -> str: ...


class Executor(Protocol):
    """Plays the macros of one plan, a button a step."""

    def next(self, ram: RamBlocks) -> Chosen:
        """The button for the step that comes now, or the end."""
        ...

    @property
    def finished(self) -> Sequence[Any]:
        """What became of the macros so far: each has `macro`, `status` and `cause`."""
        ...


@dataclass(frozen=True)
class TakeoverParts:
    """What the takeovers of a runner share; none of it remembers an environment.

    Attributes:
        ask: Takes a question or says False; never waits.
        refuses: Whether it surely would, given how the situation's key begins (`Planner.refuses`).
        brief: Tells a moment; the second argument are the macros that failed in that room.
        executor_of: Makes an executor; `ValueError` for macros that it cannot play.
    """

    ask: Callable[[PlannerQuestion], bool]
    refuses: Callable[[Mode, Kind, str], bool]
    brief: Callable[[RamBlocks, Sequence[str]], Briefing]
    executor_of: Callable[[tuple[Macro, ...]], Executor]


@dataclass
class _Asked:
    question: PlannerQuestion
    situation: Situation | None  # None: its episode is over
    at: int  # of `Takeover._clock`


@dataclass
class _Run:
    reply: PlannerReply
    situation: Situation
    executor: Executor
    steps: int = 0


class Takeover:
    """The state machine of one environment; see the module.

    Attributes:
        account: Where counts and events go; whoever reads it puts a new one here.
        seen: What the newest scene shows (`switch.mode_of`); whoever looks at it puts it here.
    """

    def __init__(
        self,
        settings: TakeoverSettings,
        parts: TakeoverParts,
        *,
        env: int,
        name: str,
        read: Callable[[], RamBlocks],
    ) -> None:
        """Of environment `env`, told as `name`; `read` gives its RAM of this moment."""
        self._settings = settings
        self._parts = parts
        self._env, self._name = env, name
        self._read = read
        self.account = AssistanceFigures()
        self._switch = PolicySwitch(settings.looks)
        self._budget = TakeoverBudget(settings)
        self.seen: Mode | None = None
        self._asked: _Asked | None = None
        self._run: _Run | None = None
        self._failed: tuple[str, ...] = ()
        self._failed_in: tuple[int, int] | None = None
        self._clock = 0

    @property
    def state(self) -> State:
        """Where it stands."""
        if self._run is not None:
            return "executing"
        if self._asked is not None:
            return "asked"
        mode = self._switch.mode
        return "resting" if mode is not None and self._budget.rests(mode) else "idle"

    def steps_to_sleep(self, closed: int) -> int:
        """Steps in which `after_step` would only count, unless the mode changes or a reply comes.

        In the next `closed` steps it may not ask. 0 while it plays, or the looks do not agree yet.
        """
        mode = self._switch.mode
        if self._run is not None or self.seen != mode:
            return 0
        if mode is None:
            return NEVER
        if self._asked is not None:
            return max(0, closed, self._asked.at + self._settings.patience_steps - self._clock)
        return max(0, closed, self._budget.steps_without(mode))

    def begin_episode(self) -> None:
        """Another episode starts: what was played or asked for in the one before is dropped."""
        self._stop(EPISODE_OVER)
        if self._asked is not None:
            self._asked.situation = None
        self._budget.begin_episode()
        self._switch.reset()
        self.seen = None
        self._failed, self._failed_in = (), None

    def choose(self) -> Action | None:
        """The planner's button for the step that comes now; None: the policy plays it."""
        run = self._run
        if run is None:
            return None
        if self._budget.is_spent:
            self._end(BUDGET, f"{run.steps} steps")
            return None
        choice = run.executor.next(self._read())
        if choice.over:
            ending = DONE if choice.status == DONE else choice.cause or choice.status
            self._end(ending, choice.reason)
            return None
        run.steps += 1
        self._budget.play()
        self.account.note_planner_steps(run.reply.question.mode)
        return choice.action

    def after_step(self, *, may_ask: bool = True) -> bool:
        """A step was played and the episode goes on; gives whether a question was refused.

        With `may_ask` False there is no question.
        """
        self._clock += 1
        self._budget.steps += 1
        mode = self._switch.look(self.seen)
        if mode is None or not may_ask or self._run is not None or self._waits:
            return False
        return self._budget.allows(mode) and not self._ask(mode)

    def pass_steps(self, count: int) -> None:
        """While it slept `count` steps were played: the same as `after_step` for each of them."""
        self._clock += count
        self._budget.steps += count

    def hear(self, reply: PlannerReply) -> bool:
        """A question of this environment was answered; gives whether a takeover begins."""
        asked, mode = self._asked, reply.question.mode
        if asked is None or asked.question is not reply.question:
            self._tell_fate(reply, "stale")  # it was given up
            return False
        self._asked = None
        if reply.plan is None:
            self._budget.note_failure(mode)
            self._tell(reply, detail=reply.detail or "")
            return False
        if asked.situation is None or Situation.at(self._read()) != asked.situation:
            if asked.situation is not None:
                self._budget.note_failure(mode)  # where answers come too late, ask more seldom
            self._tell_fate(reply, "stale")
            return False
        if self._run is not None or not self._budget.allows(mode):
            self._tell_fate(reply, "dropped")
            return False
        try:
            executor = self._parts.executor_of(reply.plan.macros)
        except ValueError as error:
            self._budget.note_failure(mode)
            self._tell_fate(reply, "refused", str(error))
            return False
        self.account.note_plan(mode, "taken")
        self._budget.begin_takeover()
        self._run = _Run(reply, asked.situation, executor)
        return True

    def state_dict(self) -> dict[str, Any]:
        """What of the episode counts, as plain values.

        A takeover that is under way and a question that waits are not in it: a resumed run drops
        both. The executor could be saved; the planner's thread and the answer on its way cannot.
        """
        return {"budget": self._budget.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of an episode; whatever was played or asked for is dropped."""
        self._stop(RESUMED)
        self.begin_episode()
        self._budget.load_state_dict(state["budget"])

    @property
    def _waits(self) -> bool:
        asked = self._asked
        if asked is None:
            return False
        if self._clock - asked.at > self._settings.patience_steps:
            self._asked = None
        return self._asked is not None

    def _ask(self, mode: Mode) -> bool:
        """Ask about this moment, if it still is one of `mode`; gives False when it was refused."""
        ram = self._read()
        situation = Situation.at(ram)
        if situation is None or situation.mode != mode:
            return True
        if self._parts.refuses(mode, "plan", situation.about):
            return False
        here = (situation.group, situation.room)
        told = self._parts.brief(ram, self._failed if here == self._failed_in else ())
        question = PlannerQuestion(
            env=self._env,
            mode=mode,
            kind="plan",
            situation=situation.key(told),
            evidence=told,
            asked_step=self._budget.steps,
        )
        if not self._parts.ask(question):
            return False
        self._asked = _Asked(question, situation, self._clock)
        return True

    def _stop(self, why: str) -> None:
        """Drop the takeover that runs; neither its success nor its failure counts."""
        run, self._run = self._run, None
        if run is not None:
            self.account.note_takeover(run.reply.question.mode, why)
            self._tell(run.reply, followed=True, ending=why, steps=run.steps)

    def _end(self, ending: str, why: str) -> None:
        run, self._run = self._run, None
        assert run is not None
        if ending == DONE and Situation.at(self._read()) == run.situation:
            ending = NO_EFFECT
        mode = run.reply.question.mode
        if ending == DONE:
            self._budget.note_success(mode)
        else:
            self._budget.note_failure(mode)
            self._remember_failed(run, ending)
        self.account.note_takeover(mode, ending)
        self._tell(run.reply, followed=True, ending=ending, detail=why, steps=run.steps)

    def _remember_failed(self, run: _Run, ending: str) -> None:
        here = (run.situation.group, run.situation.room)
        before = self._failed if here == self._failed_in else ()
        failed = [
            f"{macro_words(each.macro)}: {each.cause or ending}"
            for each in run.executor.finished
            if each.status != DONE or ending == NO_EFFECT
        ]
        self._failed, self._failed_in = (*before, *failed)[-_MOST_FAILED:], here

    def _tell_fate(self, reply: PlannerReply, fate: PlanFate, why: str = "") -> None:
        """What became of a plan that is not played; an answer without one has no fate."""
        if reply.plan is None:
            self._tell(reply, detail=reply.detail or "")
            return
        self.account.note_plan(reply.question.mode, fate)
        self._tell(reply, followed=False, ending=fate, detail=why)

    def _tell(
        self,
        reply: PlannerReply,
        *,
        followed: bool | None = None,
        ending: str = "",
        detail: str = "",
        steps: int = 0,
    ) -> None:
        plan = reply.plan
        self.account.note_event(
            AssistanceEvent(
                kind="plan",
                mode=reply.question.mode,
                env=self._name,
                step=reply.question.asked_step,
                call=reply.outcome,
                wanted=() if plan is None else wanted(macro_words(each) for each in plan.macros),
                reason="" if plan is None else reason(plan.reason),
                followed=followed,
                ending=ending,
                ending_reason=reason(detail),
                steps=steps,
                latency_seconds=reply.latency_seconds,
                cached=reply.cached,
            )
        )
