"""Plays a decision: its number in, one button a base step out, until it is over."""

from collections.abc import Callable
from dataclasses import dataclass

from rlaif.game.decisions.catalog import DECISIONS, Decision
from rlaif.game.decisions.fighting import fight
from rlaif.game.decisions.going import go_to, leave
from rlaif.game.decisions.scripts import aimed, interact, use, walk
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_dying
from rlaif.game.navigation.room_graph import RoomGraph
from rlaif.game.options.defence import Defended
from rlaif.game.options.option import Choice, Option, done, failed
from rlaif.game.options.script import Script, Scripted

_HEALTH = address("wLinkHealth")


@dataclass(frozen=True)
class DecisionLimits:
    """When a decision is over at the latest, in base steps of four frames."""

    most_steps: int = 90  # six seconds
    most_steps_of_text: int = 240  # of INTERACT, which reads texts to their end
    most_quarter_hearts_lost: int | None = None  # None: who decides next sees to his health


def carry_out(
    index: int, ram: RamBlocks, *, graph: RoomGraph, limits: DecisionLimits | None = None
) -> Option:
    """What plays a decision; `ram` is the moment at which it is made.

    It presses nothing by itself and draws no lot. It lasts at least one base step. A death ends it,
    so does a limit. What is walked between rooms is learned into `graph`.
    """
    limits = limits or DecisionLimits()
    decision = DECISIONS[index]
    if decision.family == "BUTTON":
        return Bounded(Scripted(_button(Action(index))), ram, 1, None)
    texts = decision.family == "INTERACT"
    most = limits.most_steps_of_text if texts else limits.most_steps
    option: Option = Scripted(_script(decision, graph))
    if decision.family in ("GO_TO", "LEAVE"):
        option = Defended(option)
    return Bounded(option, ram, most, limits.most_quarter_hearts_lost)


class Bounded:
    """An option that ends by its limits, but not before it has pressed once."""

    def __init__(self, option: Option, ram: RamBlocks, most_steps: int, hurt: int | None) -> None:
        self._option, self._most, self._hurt = option, most_steps, hurt
        self._health, self._steps = ram.u8(_HEALTH), 0
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        """The button for this base step, or the end."""
        if self._end is not None:
            return self._end
        choice = self._died(ram) or self._option.next(ram)
        if not choice.over:
            choice = self._limit(ram) or choice
        if choice.over and self._steps:
            self._end = choice
        self._steps += 1
        return Choice("running") if choice.over and self._end is None else choice

    def _died(self, ram: RamBlocks) -> Choice | None:
        if self._steps and self._health and is_dying(ram):
            return failed("died", "the player has no health left")
        return None

    def _limit(self, ram: RamBlocks) -> Choice | None:
        if self._steps >= self._most:
            return failed("timeout", f"not done after {self._most} steps")
        if self._hurt is not None and self._health - ram.u8(_HEALTH) > self._hurt:
            return failed("hurt", f"more than {self._hurt} quarter hearts lost")
        return None


def _button(action: Action) -> Callable[[RamBlocks], Script]:
    def script(_: RamBlocks) -> Script:
        yield action
        return done()

    return script


def _script(decision: Decision, graph: RoomGraph) -> Callable[[RamBlocks], Script]:
    match decision:
        case Decision(family="WALK", direction=Action() as way):
            return lambda ram: walk(ram, way)
        case Decision(family="AIMED", direction=Action() as way):
            return lambda ram: aimed(ram, way)
        case Decision(family="INTERACT"):
            return interact
        case Decision(family="FIGHT"):
            return fight
        case Decision(family="ITEM", item=str() as name):
            return lambda ram: use(ram, name)
        case Decision(family="LEAVE", direction=Action() as way):
            return lambda ram: leave(ram, way, graph)
        case Decision(tile=tuple() as tile):
            return lambda ram: go_to(ram, tile, graph)
    raise ValueError(f"decision {decision.index} has no script")
