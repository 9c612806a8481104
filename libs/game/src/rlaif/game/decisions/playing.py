"""Plays a decision: its number in, one button per base step out."""

from dataclasses import dataclass

from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.defence import Defended
from rlaif.game.skills.limits import Bounded
from rlaif.game.skills.script import Option, Scripted
from rlaif.game.skills.table import Context, script_of


@dataclass(frozen=True)
class DecisionLimits:
    """When a decision ends at the latest, in base steps of four frames."""

    most_steps: int = 90  # six seconds
    most_steps_of_text: int = 240  # of INTERACT, which reads texts to their end
    most_quarter_hearts_lost: int | None = None  # None: no limit


def carry_out(
    index: int, ram: RamBlocks, *, graph: RoomGraph, limits: DecisionLimits | None = None
) -> Option:
    """The option that plays a decision, made in the state of `ram`.

    It is deterministic and lasts at least one base step. A death or a limit ends it. Crossings
    between rooms are added to `graph`.
    """
    limits = limits or DecisionLimits()
    decision = DECISIONS[index]
    option: Option = Scripted(script_of(decision.call, Context(graph)))
    if decision.family == "BUTTON":
        return Bounded(option, ram, 1, None)
    texts = decision.family == "INTERACT"
    most = limits.most_steps_of_text if texts else limits.most_steps
    if decision.family in ("GO_TO", "LEAVE"):
        option = Defended(option)
    return Bounded(option, ram, most, limits.most_quarter_hearts_lost)
