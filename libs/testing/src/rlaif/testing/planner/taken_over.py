"""Play a stored state: by a planner and the executor, or by random buttons.

Every step is checked for health, coins, the room, and whether the state is resolved, as determined
from RAM alone (`rlaif.testing.data.resolution`).
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from rlaif.contracts.planning.plans import Macro
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import GameWords
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_dying
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import Cause, OptionLimits
from rlaif.testing.data.resolution import PUZZLES, is_read, is_settled, text_to_resolve
from rlaif.testing.data.situations import SavedMoment
from rlaif.testing.data.walkthrough import FRAME_SKIP
from rlaif.trainer.play.planner_counts import Outcome
from rlaif.trainer.play.planner_port import Kind, Planner, PlannerQuestion, PlannerReply

BASELINE_STEPS = 200
"""Emulator steps of a player without a plan: as many as one macro."""

_AFTERWARDS = 75
"""Maximum emulator steps for the end of a scene that the last button started."""

_REPLY_SECONDS = 30.0
_POLL_SECONDS = 0.001
_HEALTH = address("wLinkHealth")
_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")


class MissingReplyError(Exception):
    """A question was not accepted or not answered."""


@dataclass(frozen=True)
class PlayedPlan:
    """Record of one plan, from its question to its end.

    Attributes:
        outcome: How the question ended.
        detail: Error in the answer.
        pressed: Emulator steps in which the executor pressed a button or waited.
        lost: Quarter hearts lost meanwhile.
        cause: Why the executor gave up; None if it executed all macros, or there were none.
        done: Executed macros; a failed one is last.
    """

    outcome: Outcome
    detail: str | None = None
    pressed: int = 0
    lost: int = 0
    cause: Cause | None = None
    done: tuple[Macro, ...] = ()


@dataclass(frozen=True)
class PlayedMoment:
    """Result of playing a state."""

    moment: SavedMoment
    resolved: bool
    died: bool
    plans: tuple[PlayedPlan, ...] = ()


@dataclass
class Watched:
    """An emulator in a stored state, with checks of every step."""

    emulator: Emulator
    moment: SavedMoment
    state: bytes
    died: bool = False
    settled: bool = False
    ram: RamBlocks = field(init=False)

    def __post_init__(self) -> None:
        """Load the state and determine its conditions for being resolved."""
        self.emulator.load_state(self.state)
        self.ram = read_blocks(self.emulator)
        self._text = text_to_resolve(self.ram)
        self._puzzle = None
        if self.moment.mode == "puzzle":
            self._puzzle = PUZZLES[self.ram.u8(_GROUP), self.ram.u8(_ROOM)]

    def press(self, action: Action) -> int:
        """Play one emulator step; return the quarter hearts lost."""
        before = self.ram.u8(_HEALTH)
        self.emulator.step(action, FRAME_SKIP)
        self.ram = read_blocks(self.emulator)
        self.died = self.died or is_dying(self.ram)
        if self._puzzle is not None:
            self.settled = self.settled or is_settled(self.ram, self._puzzle)
        return max(0, before - self.ram.u8(_HEALTH))

    @property
    def resolved(self) -> bool:
        """Whether the puzzle is solved, or the text has ended as the quest needs it."""
        return self.settled if self._puzzle is not None else is_read(self.ram, self._text)

    def end(self, plans: Iterable[PlayedPlan] = ()) -> PlayedMoment:
        """Play a scene that has started to its end; return the result."""
        for _ in range(_AFTERWARDS):
            if has_control(self.ram):
                break
            self.press(Action.NOP)
        return PlayedMoment(
            moment=self.moment,
            resolved=self.resolved,
            died=self.died,
            plans=tuple(plans),
        )


class Asked(Protocol):
    """Answers one question, synchronously."""

    def __call__(self, ram: RamBlocks, moment: SavedMoment, kind: Kind) -> PlannerReply: ...


class AskingPlanner:
    """Sends a planner one question at a time."""

    def __init__(self, planner: Planner, words: GameWords) -> None:
        self._planner, self._words = planner, words
        self._asked = 0

    def __call__(self, ram: RamBlocks, moment: SavedMoment, kind: Kind = "plan") -> PlannerReply:
        """Return the reply; every question is a new situation, so none is cached.

        Raises:
            MissingReplyError: It was not accepted, or not answered within 30 s.
        """
        self._asked += 1
        briefing = brief(ram, self._words)
        situation = f"{moment.name}/{self._asked}"
        question = PlannerQuestion(
            0, moment.mode, kind, situation, briefing, asked_step=self._asked
        )
        if not self._planner.ask(question):
            raise MissingReplyError(f"{moment.name}: the question was not taken")
        deadline = time.monotonic() + _REPLY_SECONDS
        while time.monotonic() < deadline:
            for reply in self._planner.replies():
                return reply
            time.sleep(_POLL_SECONDS)
        raise MissingReplyError(f"{moment.name}: no reply within {_REPLY_SECONDS:g} s")


def take_over(
    emulator: Emulator, moment: SavedMoment, state: bytes, ask: Asked, *, most_plans: int = 1
) -> PlayedMoment:
    """Let a planner play a state until it is resolved or all plans are used."""
    watched = Watched(emulator, moment, state)
    plans = []
    for _ in range(most_plans):
        plans.append(_played(watched, ask(watched.ram, moment, "plan")))
        if watched.resolved or watched.died:
            break
    return watched.end(plans)


def _played(watched: Watched, reply: PlannerReply) -> PlayedPlan:
    if reply.plan is None:
        return PlayedPlan(reply.outcome, reply.detail)
    executor = PlanExecutor(reply.plan.macros, graph=RoomGraph(), limits=OptionLimits())
    pressed = lost = 0
    while not (choice := executor.next(watched.ram)).over:
        lost += watched.press(choice.action)
        pressed += 1
    done = tuple(outcome.macro for outcome in executor.finished)
    return PlayedPlan(reply.outcome, None, pressed, lost, choice.cause, done)


def play_buttons(
    emulator: Emulator, moment: SavedMoment, state: bytes, buttons: Iterator[Action]
) -> PlayedMoment:
    """Press random buttons until the state is resolved or the limit is reached."""
    watched = Watched(emulator, moment, state)
    for action in islice(buttons, BASELINE_STEPS):
        if watched.resolved or watched.died:
            break
        watched.press(action)
    return watched.end()
