"""The table of skills: from (skill, argument) to the script that plays it."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills import buttons, interact
from rlaif.game.skills.fight import fight
from rlaif.game.skills.script import Script
from rlaif.game.skills.use import use, use_item
from rlaif.game.skills.walk import go_to, leave, move_to

Skill = Literal[
    "button", "walk", "aimed", "interact", "fight", "item", "leave", "go_to",
    "move_to", "push", "use_item", "talk", "cut", "take", "answer",
]  # fmt: skip


class SkillCall(NamedTuple):
    """A skill with its argument: an `Action`, a tile, an item, a tuple of them, or None."""

    skill: Skill
    argument: Any = None


class Context(NamedTuple):
    """Inputs of scripts besides RAM."""

    graph: RoomGraph  # known crossings between rooms; new ones are added
    frames: int = 4  # of one step of a script
    push_steps: int = 25  # before a push is given up


_Play = Callable[[RamBlocks, Any, Context], Script]

_SKILLS: dict[Skill, _Play] = {
    "button": lambda _ram, action, _: buttons.button(action),
    "walk": lambda ram, direction, _: buttons.walk(ram, direction),
    "aimed": lambda ram, direction, _: buttons.aimed(ram, direction),
    "interact": lambda ram, _argument, _: buttons.interact(ram),
    "fight": lambda ram, _argument, _: fight(ram),
    "item": lambda ram, name, _: use(ram, name),
    "leave": lambda ram, direction, context: leave(ram, direction, context.graph),
    "go_to": lambda ram, tile, context: go_to(ram, tile, context.graph),
    "move_to": lambda ram, to, context: move_to(ram, to[0], to[1], context.graph, context.frames),
    "push": lambda ram, to, context: interact.push(ram, to[0], to[1], context.push_steps),
    "use_item": lambda ram, macro, context: use_item(ram, macro, context.frames),
    "talk": lambda ram, tile, _: interact.talk(ram, tile),
    "cut": lambda ram, tile, _: interact.cut(ram, tile),
    "take": lambda ram, tile, _: interact.take(ram, tile),
    "answer": lambda ram, choice, _: interact.answer(ram, choice),
}


def script_of(call: SkillCall, context: Context) -> Callable[[RamBlocks], Script]:
    """The script of a skill, to be started with the RAM in which it begins."""
    return lambda ram: _SKILLS[call.skill](ram, call.argument, context)
