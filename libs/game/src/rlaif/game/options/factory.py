"""The option of a macro, watched over."""

from collections.abc import Callable

from rlaif.contracts.plans import Answer, Cut, Macro, MoveTo, PushBlock, Take, Talk, UseItem
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.room_graph import RoomGraph
from rlaif.game.options.answer import answer
from rlaif.game.options.cut import cut
from rlaif.game.options.defence import Defended
from rlaif.game.options.guards import Guarded
from rlaif.game.options.move_to import MoveToOption
from rlaif.game.options.option import Option, OptionLimits
from rlaif.game.options.pace import Paced, steps_of_a_look
from rlaif.game.options.push_block import push_block
from rlaif.game.options.script import Script, Scripted
from rlaif.game.options.take import take
from rlaif.game.options.talk import talk
from rlaif.game.options.use_item import use_item


def option_of(macro: Macro, *, graph: RoomGraph, limits: OptionLimits) -> Option:
    """What carries out a macro; it fails by itself when it costs too much or leads nowhere.

    `graph` are the known ways between rooms; what is walked is learned into it.
    """
    option: Option
    frames = limits.frames * steps_of_a_look(limits.frames)
    if isinstance(macro, MoveTo):
        option = MoveToOption(macro, graph=graph, limits=limits, frames=frames)
    else:
        option = Scripted(_script(macro, limits, frames))
    paced = Paced(Defended(option), steps_of_a_look(limits.frames))
    return Guarded(paced, limits, stays=not isinstance(macro, MoveTo))


def _script(macro: Macro, limits: OptionLimits, frames: int) -> Callable[[RamBlocks], Script]:
    match macro:
        case PushBlock():
            return lambda ram: push_block(ram, macro, limits)
        case UseItem():
            return lambda ram: use_item(ram, macro, frames)
        case Talk():
            return lambda ram: talk(ram, macro)
        case Cut():
            return lambda ram: cut(ram, macro)
        case Take():
            return lambda ram: take(ram, macro)
        case Answer():
            return lambda ram: answer(ram, macro)
    raise TypeError(f"no option carries out {macro!r}")
