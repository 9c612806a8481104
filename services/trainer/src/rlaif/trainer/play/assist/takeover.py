"""Takeover of one environment: for each emulator step the planner's button, or None.

    idle       a dialog or puzzle is confirmed and the budget allows a request: asked
    asked      a plan for the current situation arrives: executing; a stale one, or none: resting
    executing  done: idle; failed, without effect, or out of steps: resting
    resting    for some steps, in that mode alone: idle

The policy plays in every state but `executing`. An environment has at most one pending request.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Macro, Mode, macro_words
from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import (
    has_puzzle,
    is_dialog_state,
    is_menu,
    is_puzzle_state,
    is_text,
)
from rlaif.game.memory.puzzles import PuzzleElement, puzzle_elements
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import PlanExecutor
from rlaif.trainer.play.assist.figures import (
    DONE,
    AssistanceFigures,
    PlanFate,
    count,
    reason,
    wanted,
)
from rlaif.trainer.play.assist.guidance import Guidance
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.planner import TakeoverSettings

BUDGET, NO_EFFECT, EPISODE_OVER, RESUMED = "budget", "no_effect", "episode_over", "resumed"
"""Ends of takeovers besides `done` and the causes of skills: out of steps; the plan was executed
and the situation is unchanged; the episode ended; the run was resumed."""

_MAX_FAILED = 4
"""Failed macros included in the next request about that room."""

_MAX_DOUBLINGS = 4
"""Maximum doublings of the rest after consecutive failures."""

_GROUP, _ROOM, _TEXT = address("wActiveGroup"), address("wActiveRoom"), address("wTextIndex")

_PLANNED_BY = {
    "items", "on_a", "on_b", "keys", "boss_key", "bombs", "rupees", "hearts", "failed",
}  # fmt: skip
"""Fields of a briefing that a plan depends on, besides room, text and puzzle. Positions of player
and others are excluded: macros find their own path."""


def mode_of(ram: RamBlocks) -> Mode | None:
    """The mode in which a planner could be asked now; None in plain play."""
    if is_text(ram):
        return "dialog" if is_dialog_state(ram) else None
    # An open menu is the most frequent exclusion and the cheapest to detect.
    return "puzzle" if not is_menu(ram) and is_puzzle_state(ram) else None


def mode_at(facts: GameFacts, ram: RamBlocks) -> Mode | None:
    """`mode_of` a state with known facts, usually without RAM access."""
    if facts.text:
        return mode_of(ram)
    return "puzzle" if facts.control and facts.settled and has_puzzle(ram) else None


class PolicySwitch:
    """Hysteresis: another mode counts after `looks` equal observations in a row.

    Attributes:
        mode: The confirmed mode; None in plain play.
    """

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self.mode: Mode | None = None
        self._other: Mode | None = None
        self._agreed = 0

    def look(self, seen: Mode | None) -> Mode | None:
        if seen == self.mode:
            self._agreed = 0
            return self.mode
        if seen != self._other:
            self._other, self._agreed = seen, 0
        self._agreed += 1
        if self._agreed >= self._looks:
            self.mode, self._agreed = seen, 0
        return self.mode


@dataclass(frozen=True)
class Situation:
    """The part of a state on which a plan depends; a plan for another situation is stale.

    Attributes:
        text: Id of the open text; None in a puzzle.
        puzzle: Unsolved elements of the room; empty in a dialog.
    """

    mode: Mode
    group: int
    room: int
    text: int | None = None
    puzzle: tuple[PuzzleElement, ...] = ()

    @classmethod
    def at(cls, ram: RamBlocks) -> "Situation | None":
        mode = mode_of(ram)
        if mode is None:
            return None
        place = (mode, ram.u8(_GROUP), ram.u8(_ROOM))
        if mode == "dialog":
            return cls(*place, text=ram.u16(_TEXT))
        return cls(*place, puzzle=puzzle_elements(ram))

    def key(self, evidence: Briefing) -> str:
        """Key of questions with interchangeable answers."""
        digest = blake2b(digest_size=16)
        digest.update(repr((self.group, self.room, self.text, self.puzzle)).encode())
        digest.update(evidence.model_dump_json(include=_PLANNED_BY).encode())
        return f"{self.about}/{digest.hexdigest()}"

    @property
    def about(self) -> str:
        """The common prefix of the keys of all situations in this room."""
        return f"{self.mode}/{self.group}/{self.room}"

    @property
    def place(self) -> tuple[int, int]:
        return self.group, self.room


class TakeoverBudget:
    """Limits of the planner in one environment's running episode.

    At any step the planner has played at most `share` of the episode's steps plus one takeover of
    `max_steps`. Rests apply to one mode: a planner that is too slow for short dialogs may be fast
    enough for puzzles.

    Attributes:
        steps: Emulator steps of the episode.
        planned: Of these, steps that the planner played.
    """

    def __init__(self, settings: TakeoverSettings) -> None:
        self._settings = settings
        self.steps = self.planned = 0
        self._rests_until: dict[Mode, int] = {}
        self._failures: dict[Mode, int] = {}

    def allows(self, mode: Mode) -> bool:
        share = self._settings.share
        rests = self.steps < self._rests_until.get(mode, 0)
        return share > 0 and self.planned <= share * self.steps and not rests

    def note_success(self, mode: Mode) -> None:
        self._failures.pop(mode, None)

    def note_failure(self, mode: Mode) -> None:
        """Rest after a failed takeover or a useless request, longer after consecutive ones."""
        failures = self._failures.get(mode, 0)
        rest = self._settings.rest_steps * 2 ** min(failures, _MAX_DOUBLINGS)
        self._rests_until[mode] = self.steps + rest
        self._failures[mode] = failures + 1

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "planned": self.planned,
            "rests_until": dict(self._rests_until),
            "failed_in_a_row": dict(self._failures),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps, self.planned = state["steps"], state["planned"]
        self._rests_until = dict(state["rests_until"])
        self._failures = dict(state["failed_in_a_row"])


@dataclass(frozen=True)
class AssistanceParts:
    """Components shared by the environments of a runner.

    Attributes:
        brief: Describes a state: its RAM, the room graph, macros that failed there.
        executor_of: Creates an executor of macros with this graph; raises `ValueError` for macros
            that cannot be executed.
        guide: Creates the guidance of N games by a planner; None without guidance.
        graph: Crossings between rooms that the games have shown so far.
    """

    planner: Planner
    takeover: TakeoverSettings
    brief: Callable[[RamBlocks, RoomGraph, Sequence[str]], Briefing]
    executor_of: Callable[[tuple[Macro, ...], RoomGraph], PlanExecutor]
    guide: Callable[[int, Planner], Guidance] | None = None
    graph: RoomGraph = field(default_factory=RoomGraph)


@dataclass
class _Request:
    question: PlannerQuestion
    situation: Situation | None  # None: its episode is over
    at: int  # of `Takeover._clock`


@dataclass
class _Run:
    reply: PlannerReply
    situation: Situation
    executor: PlanExecutor
    steps: int = 0


class Takeover:
    """The state machine of one environment; see the module.

    Attributes:
        account: Receives counts and events; replaced for each fragment.
        seen: Mode of the newest scene; set by the caller.
    """

    def __init__(
        self, parts: AssistanceParts, *, env: int, name: str, read: Callable[[], RamBlocks]
    ) -> None:
        """Control environment `env`, reported as `name`; `read` returns its current RAM."""
        self._parts = parts
        self._env, self._name = env, name
        self._read = read
        self.account = AssistanceFigures()
        self.seen: Mode | None = None
        self._request: _Request | None = None
        self._run: _Run | None = None
        self._clock = 0
        self._reset()

    def begin_episode(self) -> None:
        """Start another episode; a running takeover and a pending request are dropped."""
        self._stop(EPISODE_OVER)
        self._reset()

    def choose(self) -> Action | None:
        """The planner's button for the next step; None if the policy plays it."""
        run = self._run
        if run is None:
            return None
        if run.steps >= self._parts.takeover.max_steps:
            self._end(run, BUDGET, f"{run.steps} steps")
            return None
        choice = run.executor.next(self._read())
        if choice.over:
            ending = DONE if choice.status == DONE else choice.cause or choice.status
            self._end(run, ending, choice.reason)
            return None
        run.steps += 1
        self._budget.planned += 1
        mode = run.reply.question.mode
        self.account.planner_steps[mode] = self.account.planner_steps.get(mode, 0) + 1
        return choice.action

    def after_step(self, *, may_ask: bool = True) -> bool:
        """Update after a step within an episode; returns whether a request was rejected."""
        self._clock += 1
        self._budget.steps += 1
        mode = self._switch.look(self.seen)
        if mode is None or not may_ask or self._run is not None or self._is_pending():
            return False
        return self._budget.allows(mode) and not self._ask(mode)

    def hear(self, reply: PlannerReply) -> bool:
        """Process the reply to a request; returns whether a takeover starts."""
        request, mode = self._request, reply.question.mode
        if request is None or request.question is not reply.question:
            self._reject(reply, "stale")  # the request was dropped
            return False
        self._request = None
        if reply.plan is None:
            self._budget.note_failure(mode)
            self._report(reply, detail=reply.detail or "")
            return False
        if request.situation is None or Situation.at(self._read()) != request.situation:
            if request.situation is not None:
                self._budget.note_failure(mode)  # late answers: ask less often
            self._reject(reply, "stale")
            return False
        if self._run is not None or not self._budget.allows(mode):
            self._reject(reply, "dropped")
            return False
        try:
            executor = self._parts.executor_of(reply.plan.macros, self._parts.graph)
        except ValueError as error:
            self._budget.note_failure(mode)
            self._reject(reply, "refused", str(error))
            return False
        count(self.account.plans, mode, "taken")
        self._run = _Run(reply, request.situation, executor)
        return True

    def state_dict(self) -> dict[str, Any]:
        """State of the budget alone: takeovers and pending requests are dropped on a resume."""
        return {"budget": self._budget.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._stop(RESUMED)
        self._reset()
        self._budget.load_state_dict(state["budget"])

    def _reset(self) -> None:
        if self._request is not None:
            self._request.situation = None
        self._budget = TakeoverBudget(self._parts.takeover)
        self._switch = PolicySwitch(self._parts.takeover.looks)
        self.seen = None
        self._failed: tuple[tuple[int, int] | None, tuple[str, ...]] = (None, ())

    def _is_pending(self) -> bool:
        request = self._request
        if request is not None and self._clock - request.at > self._parts.takeover.patience_steps:
            self._request = None
        return self._request is not None

    def _ask(self, mode: Mode) -> bool:
        """Ask about the current state if it is still in `mode`; False if rejected."""
        ram, parts = self._read(), self._parts
        situation = Situation.at(ram)
        if situation is None or situation.mode != mode:
            return True
        if parts.planner.refuses(mode, "plan", situation.about):
            return False
        room, failed = self._failed
        evidence = parts.brief(ram, parts.graph, failed if room == situation.place else ())
        question = PlannerQuestion(
            env=self._env,
            mode=mode,
            kind="plan",
            situation=situation.key(evidence),
            evidence=evidence,
            asked_step=self._budget.steps,
        )
        if not parts.planner.ask(question):
            return False
        self._request = _Request(question, situation, self._clock)
        return True

    def _stop(self, ending: str) -> None:
        """Drop the running takeover; it counts neither as success nor as failure."""
        run, self._run = self._run, None
        if run is not None:
            self._report_run(run, ending)

    def _end(self, run: _Run, ending: str, detail: str) -> None:
        self._run = None
        if ending == DONE and Situation.at(self._read()) == run.situation:
            ending = NO_EFFECT
        mode = run.reply.question.mode
        if ending == DONE:
            self._budget.note_success(mode)
        else:
            self._budget.note_failure(mode)
            self._remember_failed(run, ending)
        self._report_run(run, ending, detail)

    def _remember_failed(self, run: _Run, ending: str) -> None:
        room, before = self._failed
        here = run.situation.place
        failed = [
            f"{macro_words(each.macro)}: {each.cause or ending}"
            for each in run.executor.finished
            if each.status != DONE or ending == NO_EFFECT
        ]
        self._failed = here, (*(before if room == here else ()), *failed)[-_MAX_FAILED:]

    def _reject(self, reply: PlannerReply, fate: PlanFate, detail: str = "") -> None:
        """Report a plan that is not executed; answers without a plan are not counted."""
        if reply.plan is None:
            self._report(reply, detail=reply.detail or "")
            return
        count(self.account.plans, reply.question.mode, fate)
        self._report(reply, followed=False, ending=fate, detail=detail)

    def _report_run(self, run: _Run, ending: str, detail: str = "") -> None:
        count(self.account.takeovers, run.reply.question.mode, ending)
        self._report(run.reply, followed=True, ending=ending, detail=detail, steps=run.steps)

    def _report(
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
