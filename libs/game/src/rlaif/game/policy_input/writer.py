"""Writes a policy's input: the RAM of a moment in, one row out.

A pure function of the RAM, the last decision, decisions without effect, and the action set. Parts
that seldom change are cached by the bytes they depend on.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from rlaif.game.decisions.catalog import Arm
from rlaif.game.decisions.mask import Flags, allowed
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.terrain import TILE_COLUMNS
from rlaif.game.motion.things import KINDS, fixed_things, moving_things
from rlaif.game.policy_input.layout import ALLOWED, MOMENT, OWNED, SCENE, SIZE, THINGS, TILES, Row
from rlaif.game.policy_input.moment import moment
from rlaif.game.policy_input.owned import owned
from rlaif.game.policy_input.scene import scene

_CODES = {kind: code for code, kind in enumerate(KINDS, start=1)}


def write_policy_input(
    ram: RamBlocks,
    last_decision: int | None,
    out: Row,
    *,
    arm: Arm = "macros",
    in_vain: Collection[int] = (),
) -> None:
    """Write the input of a moment into `out`, `[SIZE] float32`, all of it.

    Any bytes give an input within the bounds of its fields.

    Args:
        ram: The RAM of the moment.
        last_decision: The decision that led here, 0 to `COUNT` - 1; None: an episode begins.
        out: Written over; need not be contiguous.
        arm: Whose decisions the field `allowed` has.
        in_vain: Decisions that were made here and changed nothing; not offered while there are
            others.

    Raises:
        ValueError: There is no such decision.
    """
    out[MOMENT] = moment(ram, last_decision)
    out[OWNED] = owned(ram)
    out[SCENE] = scene(ram)
    out[THINGS] = _things(ram)
    out[ALLOWED] = _offered(allowed(ram, arm), in_vain)


def policy_input(
    ram: RamBlocks,
    last_decision: int | None = None,
    *,
    arm: Arm = "macros",
    in_vain: Collection[int] = (),
) -> Row:
    """The input of a moment as a new row; see `write_policy_input`."""
    out = np.empty(SIZE, dtype=np.float32)
    write_policy_input(ram, last_decision, out, arm=arm, in_vain=in_vain)
    return out


def _offered(can: Flags, in_vain: Collection[int]) -> Flags:
    if not in_vain:
        return can
    others = can.copy()
    others[list(in_vain)] = False
    return others if others.any() else can


def _things(ram: RamBlocks) -> npt.NDArray[np.uint8]:
    """`[192] uint8`, the code of what is on each tile; of two the one that moves."""
    codes = bytearray(TILES)
    for found in (fixed_things(ram), moving_things(ram)):
        for thing in found:
            codes[thing.tile.row * TILE_COLUMNS + thing.tile.column] = _CODES[thing.kind]
    return np.frombuffer(codes, dtype=np.uint8)
