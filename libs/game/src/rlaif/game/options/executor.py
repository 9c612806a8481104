"""Plays a plan: its macros one after the other, until the last is done or one fails."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.contracts.plans import Macro, MoveTo
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.options.factory import option_of
from rlaif.game.options.guards import HealthGuard
from rlaif.game.options.option import Cause, Choice, Option, OptionLimits, Status, done, failed


@dataclass(frozen=True)
class MacroOutcome:
    """How a macro ended."""

    macro: Macro
    status: Status  # done or failed
    cause: Cause | None  # of a failure
    reason: str
    steps: int  # decision steps in which it pressed or waited


class PlanExecutor:
    """One plan of one player. The health that may be lost is that of the whole plan."""

    def __init__(
        self, macros: Sequence[Macro], *, graph: RoomGraph, limits: OptionLimits | None = None
    ) -> None:
        self._left, self._graph = list(macros), graph
        self._limits = limits or OptionLimits()
        self._health = HealthGuard(self._limits.most_quarter_hearts_lost)
        self._option: Option | None = None
        self._room: RoomId | None = None  # in which it began
        self._steps = 0
        self._end: Choice | None = None
        self._finished: list[MacroOutcome] = []

    @property
    def finished(self) -> tuple[MacroOutcome, ...]:
        """How the macros ended that did, in order; those after a failure are not begun."""
        return tuple(self._finished)

    @property
    def current(self) -> Macro | None:
        """The macro that is played or comes next; None when the plan is over."""
        return self._left[0] if self._left and self._end is None else None

    def next(self, ram: RamBlocks) -> Choice:
        """The button for this decision step, or the end of the plan; once over it stays over."""
        trouble = self._health.look(ram) if self._end is None else None
        while self._end is None:
            if not self._left:
                self._end = done("every macro is done")
                break
            choice = self._ask(self._left[0], ram)
            if not choice.over and trouble is not None:
                choice = trouble
            if not choice.over:
                self._steps += 1
                return choice
            self._finish(choice, standing(ram).room)
        return self._end

    def _ask(self, macro: Macro, ram: RamBlocks) -> Choice:
        if self._option is None:
            self._option = option_of(macro, graph=self._graph, limits=self._limits)
            self._room = standing(ram).room
        return self._option.next(ram)

    def _finish(self, choice: Choice, here: RoomId) -> None:
        macro = self._left.pop(0)
        self._finished.append(
            MacroOutcome(macro, choice.status, choice.cause, choice.reason, self._steps)
        )
        self._option, self._steps = None, 0
        if choice.status == "failed":
            self._end = choice
        elif self._left and here != self._room and not isinstance(macro, MoveTo):
            # What comes next was meant for the room that he was brought away from.
            self._end = failed("left_room", f"a scene led to room {here.group}/{here.room}")
