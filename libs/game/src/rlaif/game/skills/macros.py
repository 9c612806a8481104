"""A planner's macros: each is one skill call, guarded by limits; a plan plays several in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.contracts.planning.plans import (
    Answer,
    Cut,
    Macro,
    MoveTo,
    PushBlock,
    Take,
    Talk,
    UseItem,
)
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.grid import TilePlace
from rlaif.game.motion.room_graph import RoomGraph, RoomId
from rlaif.game.motion.room_watcher import standing
from rlaif.game.skills.defence import Defended
from rlaif.game.skills.limits import Guarded, HealthGuard, Paced, base_steps
from rlaif.game.skills.script import (
    Cause,
    Choice,
    Option,
    OptionLimits,
    Scripted,
    Status,
    done,
    failed,
)
from rlaif.game.skills.table import Context, SkillCall, script_of


def skill_of(macro: Macro) -> SkillCall:
    """The skill call that carries out a macro."""
    match macro:
        case MoveTo():
            return SkillCall("move_to", (_room(macro.room), _tile(macro)))
        case PushBlock():
            return SkillCall("push", (_tile(macro), Action[macro.direction]))
        case UseItem(item="bracelet", column=int(), row=int()):
            return SkillCall("take", _tile(macro))
        case UseItem():
            return SkillCall("use_item", macro)
        case Talk():
            return SkillCall("talk", _tile(macro))
        case Cut():
            return SkillCall("cut", _tile(macro))
        case Take():
            return SkillCall("take", _tile(macro))
        case Answer():
            return SkillCall("answer", macro.choice)


def _tile(macro: MoveTo | PushBlock | UseItem | Talk | Cut | Take) -> TilePlace | None:
    if macro.column is None or macro.row is None:
        return None
    return TilePlace(macro.row, macro.column)


def _room(name: str | None) -> RoomId | None:
    if name is None:
        return None
    group, room = name.split("/")
    return RoomId(int(group), int(room))


def option_of(macro: Macro, *, graph: RoomGraph, limits: OptionLimits) -> Option:
    """The option that carries out a macro; it fails if it takes too long or costs too much.

    `graph` holds the known crossings between rooms; new ones are added.
    """
    pace = base_steps(limits.frames)
    context = Context(graph, limits.frames * pace, limits.still_steps)
    option = Defended(Scripted(script_of(skill_of(macro), context)))
    return Guarded(Paced(option, pace), limits, stays=not isinstance(macro, MoveTo))


@dataclass(frozen=True)
class MacroOutcome:
    """The end of a macro."""

    macro: Macro
    status: Status  # done or failed
    cause: Cause | None  # of a failure
    reason: str
    steps: int  # emulator steps, waiting included


class PlanExecutor:
    """Plays macros in order until the last is done or one fails.

    The limit on lost health applies to the whole plan.
    """

    def __init__(
        self, macros: Sequence[Macro], *, graph: RoomGraph, limits: OptionLimits | None = None
    ) -> None:
        self._left, self._graph = list(macros), graph
        self._limits = limits or OptionLimits()
        self._health = HealthGuard(self._limits.most_quarter_hearts_lost)
        self._option: Option | None = None
        self._room: RoomId | None = None  # in which the current macro began
        self._steps = 0
        self._end: Choice | None = None
        self._finished: list[MacroOutcome] = []

    @property
    def finished(self) -> tuple[MacroOutcome, ...]:
        """Outcomes of the macros that ended, in order; those after a failure are not started."""
        return tuple(self._finished)

    @property
    def current(self) -> Macro | None:
        """The macro that is played or comes next; None when the plan is over."""
        return self._left[0] if self._left and self._end is None else None

    def next(self, ram: RamBlocks) -> Choice:
        trouble = self._health.check(ram) if self._end is None else None
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
            # The next macro was planned for the room in which this one began.
            self._end = failed("left_room", f"a scene led to room {here.group}/{here.room}")
