"""Plays a decision: converts its number into one button per base step."""

from rlaif.game.decisions.catalog import DECISIONS
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.defence import Defended
from rlaif.game.skills.limits import Bounded
from rlaif.game.skills.script import Option, Scripted
from rlaif.game.skills.table import Context, script_of

MAX_STEPS = {"BUTTON": 1, "INTERACT": 240}
"""Family → base steps of four frames after which a decision ends. INTERACT reads whole texts."""

MAX_STEPS_OF_OTHERS = 90


def carry_out(index: int, ram: RamBlocks, *, graph: RoomGraph) -> Option:
    """The option that plays a decision, starting in the state of `ram`.

    It is deterministic and lasts at least one base step. A death or the limit of steps ends it.
    Crossings between rooms are added to `graph`.
    """
    decision = DECISIONS[index]
    option: Option = Scripted(script_of(decision.call, Context(graph)))
    if decision.family in ("GO_TO", "LEAVE"):
        option = Defended(option)
    return Bounded(option, ram, MAX_STEPS.get(decision.family, MAX_STEPS_OF_OTHERS))
