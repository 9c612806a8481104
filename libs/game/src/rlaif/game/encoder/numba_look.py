"""The part of the encoder that runs on every step, compiled to machine code by numba.

Between two steps the emulator has filled the processor's caches with its own code and data, so what
Python does there costs three times what it costs alone: the 12 µs of `encoder_memo` in Python were
33 µs of a step that plays for 180 µs. This reads the emulator's memory where it lies and writes the
row in about 3 µs. The plain encoder says what is right; a test compares the bits.

Compiling takes about 3 s, once on a machine: the result is kept beside this file, or where
`NUMBA_CACHE_DIR` points. Where neither can be written each process compiles for itself.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast, no_type_check

import numba
import numpy as np
import numpy.typing as npt

from rlaif.contracts.observation import ENEMY_SLOTS, LAYOUT, OBSERVATION_SIZE, RAY_LENGTH
from rlaif.game.encoder import nearby as near
from rlaif.game.encoder.reference import NEARBY, NOT_CENTRE, PLAYER, POSE_ADDRESSES, SCENE, WALLS
from rlaif.game.encoder.scene import CHEST, FLAG_SPANS, ITEM_SPANS, PLACE_SPANS
from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START
from rlaif.game.memory.blocks import DUNGEON_LAYOUT_SIZE
from rlaif.game.memory.entities import HARMLESS_ENEMY_IDS, INTERACTION_TREASURE, PART_ITEM_DROP
from rlaif.game.memory.memory_map import (
    COMPANION,
    LINK,
    OBJECT_ANGLE,
    OBJECT_HEALTH,
    OBJECT_ID,
    OBJECT_X,
    OBJECT_Y,
    TILE_STRIDE,
    address,
)
from rlaif.game.memory.walls import CELL_CODES_BY_X, CELL_CODES_BY_Y, SOLID, STOP

Bytes = npt.NDArray[np.uint8]
Row = npt.NDArray[np.float32]
Look = Callable[[Bytes, Bytes, npt.NDArray[np.uint64], Bytes, Row, Row], int]
"""`look(wram, dungeon_layout, seen, cells, scene, out)`, see `compiled_look`."""

PLACE, ITEMS, FLAGS = 1, 2, 4
"""Bits of the answer of a look that found another scene: what of it may differ."""

WROTE = 8
"""Bit of the answer: the row is written. Else a scene has to be made ready first."""

STILL = 16
"""Bit of the answer: not one byte of work RAM differs from the look before."""

_WORD = 8
_WORDS, _LAYOUT_WORDS = WRAM_SIZE // _WORD, DUNGEON_LAYOUT_SIZE // _WORD
SEEN_WORDS = _WORDS + _LAYOUT_WORDS + 1
"""What a look keeps for the next: work RAM, the dungeon's layout, whether there was one."""


def _array(kind: Any, *, readonly: bool = True) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=readonly)


@cache
def compiled_look() -> Look:
    """The function that looks at the RAM of one moment; the first call in a process loads it.

    `look(wram, dungeon_layout, seen, cells, scene, out)` compares the RAM with what is in `seen`
    (`[SEEN_WORDS] uint64`, zeros at first) and notes it there. Of another scene the answer says
    what of it may differ: whoever calls makes `cells` (`walls.room_cells`) and `scene` (that part
    of the observation) ready and calls again. Else it writes the whole row into `out` and answers
    `WROTE` and `STILL`, and above them x << 8 and y << 16.
    """
    signature = numba.int64(
        _array(numba.uint8),
        _array(numba.uint8),
        _array(numba.uint64, readonly=False),
        _array(numba.uint8),
        _array(numba.float32, readonly=False),
        _array(numba.float32, readonly=False),
    )
    masks = np.array([_mask(spans) for spans in (PLACE_SPANS, ITEM_SPANS, FLAG_SPANS)])
    pose_at = tuple(where - WRAM_START for where in POSE_ADDRESSES)
    look = _look_of(masks, _scales(PLAYER), pose_at, _table())
    try:
        compiled = numba.njit(signature, cache=True, error_model="numpy")(look)
    except RuntimeError:  # numba has found no place where it could keep the result
        compiled = numba.njit(signature, error_model="numpy")(look)
    return cast(Look, compiled)


def _mask(spans: Sequence[slice]) -> npt.NDArray[np.uint64]:
    """`[1024] uint64`: all bits of the bytes of work RAM in `spans`."""
    mask = np.zeros(WRAM_SIZE, dtype=np.uint8)
    for span in spans:
        mask[span] = 0xFF
    return mask.view(np.uint64)


def _scales(part: slice) -> npt.NDArray[np.float64]:
    return np.array([slot.scale for slot in LAYOUT[part]], dtype=np.float64)


def _table() -> npt.NDArray[np.float64]:
    """By byte: an enemy's health, the x and the y of a direction, whether that id is harmless."""
    harmless = [float(number in HARMLESS_ENEMY_IDS) for number in range(256)]
    return np.array([near.HEALTH, near.DIR_X, near.DIR_Y, harmless], dtype=np.float64)


def _look_of(
    masks: npt.NDArray[np.uint64],
    pose_scales: npt.NDArray[np.float64],
    pose_at: Sequence[int],
    table: npt.NDArray[np.float64],
) -> Callable[..., int]:
    """The function to compile.

    All constants are closed over and none is global: numba's cache asks whether these are still
    the same, and does not look at other modules.
    """
    all_words, layout_words, begun = _WORDS, _LAYOUT_WORDS, SEEN_WORDS - 1
    place_bit, items_bit, flags_bit, wrote_bit, still_bit = PLACE, ITEMS, FLAGS, WROTE, STILL
    nothing = np.uint64(0)
    link, companion = LINK - WRAM_START, COMPANION - WRAM_START
    link_object, riding = address("wLinkObjectIndex") - WRAM_START, COMPANION >> 8
    obj_id, obj_x, obj_y = OBJECT_ID, OBJECT_X, OBJECT_Y
    obj_angle, obj_health = OBJECT_ANGLE, OBJECT_HEALTH
    radius_x, radius_y, objects, object_size = (
        near.RADIUS_X, near.RADIUS_Y, near.OBJECTS, near.OBJECT_SIZE,
    )  # fmt: skip
    list_at, list_end = near.A_LIST, near.A_LIST + near.A_LIST_SIZE
    drop, treasure = PART_ITEM_DROP, INTERACTION_TREASURE
    grab, direction, tiles, sign = near.GRAB_STATE, near.LINK_DIRECTION, near.TILES, near.SIGN
    chest, up, stride, tile_rows, reach = (
        CHEST,
        near.FACING_UP,
        TILE_STRIDE,
        near.TILE_ROWS,
        near.REACH,
    )
    span, enemies = near.SPAN, ENEMY_SLOTS
    scene_at, walls_at, nearby_at, size = SCENE.start, WALLS.start, NEARBY.start, OBSERVATION_SIZE
    by_x, by_y, not_centre, stop = CELL_CODES_BY_X, CELL_CODES_BY_Y, NOT_CENTRE, STOP
    around, grid_cells, ray_steps = len(NOT_CENTRE), len(NOT_CENTRE) + 1, RAY_LENGTH + 1
    wall_scale = np.float32(1.0 / SOLID)
    free_scale = np.float32(1.0 / LAYOUT[WALLS.stop - 1].scale)
    height_at, facing_at, swim_at, air_at, grab_at, hurt_at, push_at = pose_at

    @no_type_check  # numba has types of its own
    def look(wram, dungeon_layout, seen, cells, scene, out):
        # What changed since the last look?
        words, layout_now = wram.view(np.uint64), dungeon_layout.view(np.uint64)
        anything = place = items = flags = nothing
        for i in range(all_words):
            differs = words[i] ^ seen[i]
            anything |= differs
            place |= differs & masks[0, i]
            items |= differs & masks[1, i]
            flags |= differs & masks[2, i]
            seen[i] = words[i]
        for i in range(layout_words):
            place |= layout_now[i] ^ seen[all_words + i]
            seen[all_words + i] = layout_now[i]
        if seen[begun] == nothing:
            seen[begun] = np.uint64(1)
            return place_bit | items_bit | flags_bit
        if place | items | flags:
            return (
                (place_bit if place else 0)
                | (items_bit if items else 0)
                | (flags_bit if flags else 0)
            )

        # The player.
        page = companion if wram[link_object] == riding else link
        x, y = np.int64(wram[page + obj_x]), np.int64(wram[page + obj_y])
        height, hurt = np.int64(wram[height_at]), np.int64(wram[hurt_at])
        facing = wram[facing_at]
        out[0] = min(x / pose_scales[0], 1.0)
        out[1] = min(y / pose_scales[1], 1.0)
        out[2] = min((0x100 - height if height >= 0x80 else 0) / pose_scales[2], 1.0)
        for side in range(4):
            out[3 + side] = 1.0 if facing == side else 0.0
        out[7] = 1.0 if wram[swim_at] & 0x0F else 0.0
        out[8] = 1.0 if wram[air_at] & 0x0F else 0.0
        out[9] = 1.0 if wram[grab_at] else 0.0
        out[10] = min((hurt if hurt < 0x80 else 0) / pose_scales[10], 1.0)
        out[11] = 1.0 if wram[push_at] != 0xFF else 0.0

        # The scene and the walls.
        for i in range(walls_at - scene_at):
            out[scene_at + i] = scene[i]

        for i in range(around):
            code = by_y[y, not_centre[i]] + by_x[x, not_centre[i]]
            out[walls_at + i] = np.float32(cells[min(code, stop)]) * wall_scale
        for ray in range(4):
            first, free = grid_cells + ray * ray_steps * 2, 0
            while True:
                left = min(by_y[y, first + 2 * free] + by_x[x, first + 2 * free], stop)
                right = min(by_y[y, first + 2 * free + 1] + by_x[x, first + 2 * free + 1], stop)
                if cells[left] | cells[right]:
                    break
                free += 1
            out[walls_at + around + ray] = np.float32(free) * free_scale

        # Who is there? Where nothing is listed people answer to A, where nothing was dropped all
        # parts are things.
        for i in range(nearby_at, size):
            out[i] = 0.0
        best = np.full(enemies + 2, np.int64(1) << 40)  # square of the distance << 16 | place
        person, thing = enemies, enemies + 1
        # What answers to A.
        answers = listed = False
        ahead = wram[direction] & 3
        ahead_x, ahead_y = x, y
        if ahead == 0:
            ahead_y -= reach
        elif ahead == 1:
            ahead_x += reach
        elif ahead == 2:
            ahead_y += reach
        else:
            ahead_x -= reach
        for at in range(list_at, list_end, 2):
            high = np.int64(wram[at + 1])
            if high < 0xD0 or high >= 0xE0:
                continue
            where = objects + (high & 0x0F) * 0x100 + (np.int64(wram[at]) & 0xC0)
            if not wram[where]:
                continue
            listed = True
            that_x, that_y = np.int64(wram[where + obj_x]), np.int64(wram[where + obj_y])
            off_x, off_y = that_x - x, that_y - y
            best[person] = min(best[person], (off_x * off_x + off_y * off_y) << 16 | where)
            answers |= (
                abs(that_x - ahead_x) < wram[where + radius_x]
                and abs(that_y - ahead_y) < wram[where + radius_y]
            )
        column, row = ahead_x >> 4, ahead_y >> 4
        if 0 <= column < stride and 0 <= row < tile_rows:
            tile = wram[tiles + row * stride + column]
            answers |= tile == sign or (tile == chest and ahead == up)
        drops = False
        for where in range(objects, objects + 64 * object_size, object_size):
            if wram[where]:
                kind = where >> 6 & 3
                drops |= kind == 3 and wram[where + obj_id] == drop
                drops |= kind == 1 and wram[where + obj_id] == treasure

        # The nearest of each kind.
        for where in range(objects, objects + 64 * object_size, object_size):
            if not wram[where]:
                continue
            kind, number = where >> 6 & 3, wram[where + obj_id]
            off_x, off_y = np.int64(wram[where + obj_x]) - x, np.int64(wram[where + obj_y]) - y
            key = (off_x * off_x + off_y * off_y) << 16 | where
            if kind == 2 and not table[3, number]:
                for rank in range(enemies):
                    if key < best[rank]:
                        key, best[rank] = best[rank], key
            elif kind == 1:
                if not listed:
                    best[person] = min(best[person], key)
                if drops and number == treasure:
                    best[thing] = min(best[thing], key)
            elif kind == 3 and (not drops or number == drop):
                best[thing] = min(best[thing], key)
        # Write who is near.
        at = nearby_at
        for rank in range(enemies + 2):
            if best[rank] < np.int64(1) << 40:
                where = best[rank] & 0xFFFF
                out[at] = 1.0
                out[at + 1] = 0.5 + (np.int64(wram[where + obj_x]) - x) / span
                out[at + 2] = 0.5 + (np.int64(wram[where + obj_y]) - y) / span
                if rank < enemies:
                    angle = wram[where + obj_angle]
                    out[at + 3] = table[0, wram[where + obj_health]]
                    out[at + 4] = table[1, angle]
                    out[at + 5] = table[2, angle]
            at += 6 if rank < enemies else 3
        out[at] = 1.0 if answers and not wram[grab] else 0.0

        return wrote_bit | (0 if anything else still_bit) | x << 8 | y << 16

    return cast(Callable[..., int], look)
