"""PUSH_BLOCK: walk behind a block and push until it has moved one tile."""

from rlaif.contracts.plans import PushBlock
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import interactions
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.options.attending import take_control
from rlaif.game.options.option import OptionLimits, done
from rlaif.game.options.placing import stand_beside
from rlaif.game.options.room_tiles import in_room, index_at, is_solid, neighbour
from rlaif.game.options.script import GiveUp, Script

PUSHED_BLOCK = 0x14
"""The interaction that a block is while it slides, in both games."""


def push_block(ram: RamBlocks, macro: PushBlock, limits: OptionLimits) -> Script:
    """Done when the block stands one tile on."""
    block, direction = TilePlace(macro.row, macro.column), Action[macro.direction]
    ram = yield from take_control(ram)
    if not in_room(ram, block) or not in_room(ram, neighbour(block, direction)):
        raise GiveUp("impossible", "the block or where it shall go is not in this room")
    if not is_solid(ram, block):
        raise GiveUp("impossible", f"nothing to push on tile {block.column},{block.row}")
    if is_solid(ram, neighbour(block, direction)):
        raise GiveUp("impossible", f"there is no room to move {macro.direction}")
    ram = yield from stand_beside(ram, block, [direction])
    before = index_at(ram, block)
    for _ in range(limits.still_steps):
        if index_at(ram, block) != before:
            break
        ram = yield direction
    else:
        raise GiveUp("no_progress", f"what stands there does not move {macro.direction}")
    while any(it.id == PUSHED_BLOCK for it in interactions(ram)):
        ram = yield Action.NOP
    return done("the block moved")
