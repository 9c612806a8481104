"""Steps, reachability and shortest paths in a room, compiled to machine code by numba.

They implement the game's rule of walking pixel by pixel; a test compares them with a plain
implementation. A new room and the paths to one goal cost about a millisecond. A pixel is the index
`y * width + x` of the player's position, a direction a number of `Action`. Arrays of a room:

    ends     `[4, pixels]`, the pixel after a step by direction; NOWHERE where it would kill
    outs     `[pixels]`, 1 where the room is left: its rim, doors, stairs
    heads, sources, ways   the pixels from which each pixel is stepped onto, and by which direction:
             starts of lists, all lists
    ahead    `[4, 2]`, (dy, dx) from the player to the pixel that it acts on, by direction

Compiling takes some seconds once per machine: the result is cached beside this file, or in
`NUMBA_CACHE_DIR`. The cache depends on this file alone, so values of other modules are arguments.
Outputs are initialized to 0.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Pixels = npt.NDArray[np.uint16]
"""Pixels by index: the largest room has 42,240."""

Counts = npt.NDArray[np.int32]

Int = int | np.int64

NOWHERE = 0xFFFF
"""End of a step that would kill."""

PAD = 16
"""Pixels around the room in `solid`, so that probes need no check of its edge."""

DEADLY, WET, DOOR = 1, 2, 4
"""Kind bits of a tile."""

FAR = 1 << 14
"""More than any path costs."""

ARRIVED = 0x10
"""Bit of a first step: this pixel is at the goal; the low bits are the direction to face."""

_STEP, _CARE, _FOUR = 2, 2, 4
_RIM, _RIM_BOTTOM = 5, 6
_FEET, _TILE, _ROWS, _COLUMNS = 5, 16, 12, 16
_RING = 64
"""More buckets than a step can cost."""

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

_U8, _U16, _I32, _I16 = numba.uint8, numba.uint16, numba.int32, numba.int16
_INT = numba.int64


def _of(kind: Any, dimensions: int = 1, *, readonly: bool = False) -> Any:
    return numba.types.Array(kind, dimensions, "C", readonly=readonly)


def compiled(*arguments: Any) -> Callable[[_Kernel], _Kernel]:
    """Compile for these types of arguments, without a result."""

    def compile_it(function: _Kernel) -> _Kernel:
        signature = numba.void(*arguments)
        try:
            made = numba.njit(signature, cache=True, error_model="numpy")(function)
        except RuntimeError:  # numba found no writable cache directory
            made = numba.njit(signature, error_model="numpy")(function)
        return cast(_Kernel, made)

    return compile_it


def _inlined(function: _Kernel) -> _Kernel:
    made: _Kernel = numba.njit(error_model="numpy", forceinline=True)(function)
    return made


@_inlined
def _mark_near_deaths(ground: Bytes, height: int, width: int, care: Bytes) -> None:
    for at in range(ground.size):
        if not ground[at] & DEADLY:
            continue
        y, x = at // width, at % width
        for dy in range(-_CARE, _CARE + 1):
            reach = _CARE - abs(dy)
            for dx in range(-reach, reach + 1):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    care[at + dy * width + dx] = 1


@_inlined
def _find_frames(
    solid: Bytes, probes: npt.NDArray[np.int64], height: int, width: int, after: Pixels
) -> None:
    """The pixel a frame later: ahead, aside around a corner that one probe meets, or the same."""
    dy, dx = probes[2, 0], probes[2, 1]
    for y in range(height):
        for x in range(width):
            one = solid[PAD + y + probes[0, 0], PAD + x + probes[0, 1]]
            two = solid[PAD + y + probes[1, 0], PAD + x + probes[1, 1]]
            aside = 0 if one == two else 1 if one else -1
            on = 0 if one or two else 1
            to_y = y + on * dy + (aside if dx else 0)
            to_x = x + on * dx + (aside if dy else 0)
            to_y, to_x = min(max(to_y, 0), height - 1), min(max(to_x, 0), width - 1)
            after[y * width + x] = to_y * width + to_x


@_inlined
def _frames_on(start: int, frame: Pixels, ground: Bytes, outs: Bytes, frames: int) -> Int:
    """The pixel some frames later. In water every second one counts; leaving the room ends it."""
    here = np.int64(start)
    for number in range(frames):
        in_water = ground[here] & WET and number % 2 == 0
        if not in_water and not (outs[here] and not outs[start]):
            here = np.int64(frame[here])
        if ground[here] & DEADLY:
            return NOWHERE
    return here


@_inlined
def _four_frames_on(frame: Pixels, ground: Bytes, outs: Bytes, ends: Pixels) -> None:
    """`_frames_on` for all pixels inside a room without water: two steps of two frames."""
    one, two = ends, np.empty(ends.size, dtype=np.uint16)
    for start in range(ends.size):
        after = start if outs[start] else np.int64(frame[start])
        one[start] = NOWHERE if ground[after] & DEADLY else after
    for start in range(ends.size):
        two[start] = NOWHERE if one[start] == NOWHERE else one[one[start]]
    for start in range(ends.size):
        ends[start] = NOWHERE if two[start] == NOWHERE else two[two[start]]


@compiled(
    _of(_U8, 2), _of(_U8, 2), _of(_INT, 3), _INT, _INT, _INT, _of(_U16, 2), _of(_U8), _of(_U8)
)
def find_steps(
    solid: Bytes,
    tiles: Bytes,
    probes: npt.NDArray[np.int64],
    height: int,
    width: int,
    frames: int,
    ends: Pixels,
    outs: Bytes,
    care: Bytes,
) -> None:
    """Find the end of a step of `frames` frames from every pixel, except jumps off cliffs.

    Args:
        solid: `[height + 2 PAD, width + 2 PAD]`, whether a pixel stops the player.
        tiles: `[12, 16]`, kind bits of each tile.
        probes: `[4, 3, 2]`, by direction: both probes and the vector, (dy, dx) each.
        height: Of the room in pixels.
        width: Likewise.
        frames: How long a step holds its direction.
        ends: Out.
        outs: Out.
        care: Out: `[pixels]`, 1 within two pixels of deadly ground.
    """
    ground = np.zeros(height * width, dtype=np.uint8)
    for y in range(height):
        row = min((y + _FEET) // _TILE, _ROWS - 1)
        rim_y = y <= _RIM or y >= height - _RIM_BOTTOM
        for x in range(width):
            at = y * width + x
            ground[at] = tiles[row, min(x // _TILE, _COLUMNS - 1)]
            rim = rim_y or x <= _RIM or x >= width - _RIM
            outs[at] = 1 if rim or ground[at] & DOOR else 0
    _mark_near_deaths(ground, height, width, care)
    is_plain = frames == _FOUR and not (ground & WET).any()
    frame = np.empty(height * width, dtype=np.uint16)
    for way in range(4):
        _find_frames(solid, probes[way], height, width, frame)
        if is_plain:
            _four_frames_on(frame, ground, outs, ends[way])
        for start in range(height * width):
            if outs[start] or not is_plain:
                ends[way, start] = _frames_on(start, frame, ground, outs, frames)


@compiled(_of(_U16, 2), _of(_I32), _of(_U16), _of(_U8))
def reverse_steps(ends: Pixels, heads: Counts, sources: Pixels, ways: Bytes) -> None:
    """List the pixels from which each pixel is stepped onto, and the bit of the direction."""
    pixels = ends.shape[1]
    for way in range(4):
        for start in range(pixels):
            end = ends[way, start]
            if end != NOWHERE and end != start:
                heads[end + 1] += 1
    for pixel in range(pixels):
        heads[pixel + 1] += heads[pixel]
    fill = heads[:-1].copy()
    for way in range(4):
        for start in range(pixels):
            end = ends[way, start]
            if end != NOWHERE and end != start:
                sources[fill[end]], ways[fill[end]] = start, 1 << way
                fill[end] += 1


@compiled(
    _of(_U16, 2), _of(_U8), _INT, _INT, _of(_INT, 2), _of(_U8), _of(_U8), _of(_U8, 2), _of(_U8)
)
def reach_from(
    ends: Pixels,
    outs: Bytes,
    width: int,
    start: int,
    ahead: npt.NDArray[np.int64],
    seen: Bytes,
    trodden: Bytes,
    faced: Bytes,
    rims: Bytes,
) -> None:
    """Find the reachable pixels and tiles from a pixel.

    Outputs: `seen` by pixel; `trodden`, `[192]`, tiles that can be stepped onto; `faced`,
    `[4, 192]`, tiles before which the player can stand, by direction; `rims`, `[4]`, edges over
    which the room can be left.
    """
    pixels = ends.shape[1]
    height = pixels // width
    queue = np.empty(pixels, dtype=np.uint16)
    queue[0] = start
    seen[start] = 1
    first, last = 0, 1
    while first < last:
        here = np.int64(queue[first])
        first += 1
        y, x = int(here // width), int(here % width)
        trodden[min((y + _FEET) // _TILE, _ROWS - 1) * _COLUMNS + min(x // _TILE, 15)] = 1
        if outs[here]:
            along = _RIM < x < width - _RIM  # corners belong to no edge
            across = _RIM < y < height - _RIM_BOTTOM
            rims[0] |= y <= _RIM and along
            rims[1] |= y >= height - _RIM_BOTTOM and along
            rims[2] |= x <= _RIM and across
            rims[3] |= x >= width - _RIM and across
            if here != start:
                continue
        for way in range(4):
            end = np.int64(ends[way, here])
            if end == NOWHERE:
                continue
            if not outs[end] or end == here:
                to_y, to_x = end // width + ahead[way, 0], end % width + ahead[way, 1]
                if 0 <= to_y < _ROWS * _TILE and 0 <= to_x < _COLUMNS * _TILE:
                    faced[way, to_y // _TILE * _COLUMNS + to_x // _TILE] = 1
            if not seen[end]:
                seen[end] = 1
                queue[last] = end
                last += 1


@compiled(_of(_I32), _of(_U16), _of(_U8), _INT, _of(_U8))
def lead_to(heads: Counts, sources: Pixels, outs: Bytes, goal: int, seen: Bytes) -> None:
    """Mark in `seen`, `[pixels]` of zeros, all pixels from which a pixel can be reached."""
    queue = np.empty(seen.size, dtype=np.uint16)
    queue[0] = goal
    seen[goal] = 1
    first, last = 0, 1
    while first < last:
        here = np.int64(queue[first])
        first += 1
        if outs[here] and here != goal:
            continue
        for number in range(heads[here], heads[here + 1]):
            source = sources[number]
            if not seen[source]:
                seen[source] = 1
                queue[last] = source
                last += 1


@compiled(_of(_U16, 2), _of(_U8), _INT, _INT, _of(_INT, 2), _INT, _INT, _INT, _of(_U8))
def before_tile(
    ends: Pixels,
    outs: Bytes,
    width: int,
    tile: int,
    ahead: npt.NDArray[np.int64],
    directions: int,
    aside: int,
    brink: int,
    goal: Bytes,
) -> None:
    """Mark the pixels from which one more step ends before a tile, facing it.

    Args:
        ends: See above, as the next.
        outs: Likewise.
        width: Of the room in pixels.
        tile: `row * 16 + column`.
        ahead: See above.
        directions: Bits of the directions in which to face it.
        aside: Pixels off the tile's center, across the direction, at most.
        brink: 1 to require that the step after that one would kill: at the edge of a hole.
        goal: Out: `[pixels]`, ARRIVED and the direction of that step.
    """
    pixels = ends.shape[1]
    top, left = tile // _COLUMNS * _TILE, tile % _COLUMNS * _TILE
    low = max(top - 2 * _TILE, 0) * width
    high = min((top + 3 * _TILE) * width, pixels)
    for way in range(4):
        if not directions >> way & 1:
            continue
        first = (top - ahead[way, 0]) * width
        for here in range(low, high):
            end = np.int64(ends[way, here])
            if not first <= end < first + _TILE * width or end == NOWHERE:
                continue  # another row of tiles
            if outs[end] or outs[here] or goal[here]:
                continue
            to_y, to_x = end // width + ahead[way, 0], end % width + ahead[way, 1]
            if not left <= to_x < left + _TILE:
                continue
            off = to_x - left - _TILE // 2 if way < 2 else to_y - top - _TILE // 2
            if abs(off) <= aside and not (brink and ends[way, end] != NOWHERE):
                goal[here] = ARRIVED | way


@_inlined
def _choose_beyond(
    last: int, ends: Pixels, outs: Bytes, extra: Bytes, costs: npt.NDArray[np.int16], firsts: Bytes
) -> None:
    """Set the best steps from each pixel farther than `last`, by the costs known so far."""
    for here in range(firsts.size):
        if not last < costs[here] < FAR:
            continue
        least, bits = FAR, 0
        for way in range(4):
            end = np.int64(ends[way, here])
            if end in (NOWHERE, here) or (outs[end] and costs[end]):
                continue
            total = costs[end] + _STEP + extra[end]
            if total < least:
                least, bits = total, 1 << way
            elif total == least:
                bits |= 1 << way
        firsts[here] = bits


@_inlined
def _goals(firsts: Bytes, costs: npt.NDArray[np.int16], following: Counts, waiting: Counts) -> Int:
    """Put the goals into the first bucket; returns their number."""
    count = 0
    costs[:] = FAR
    for pixel in range(firsts.size):
        if firsts[pixel]:
            costs[pixel] = 0
            waiting[count], following[count] = pixel, count - 1
            count += 1
    return count


@compiled(
    _of(_U16, 2), _of(_I32), _of(_U16), _of(_U8), _of(_U8), _of(_U8), _INT, _of(_I32, 2), _of(_U8)
)
def find_first_steps(
    ends: Pixels,
    heads: Counts,
    sources: Pixels,
    ways: Bytes,
    outs: Bytes,
    extra: Bytes,
    start: int,
    scratch: Counts,
    firsts: Bytes,
) -> None:
    """Find the best steps to a goal from all pixels, or from those not farther than `start`.

    Dijkstra's algorithm backwards from the goal, with a ring of buckets (Dial 1969). No path leads
    through another room. `extra` is the additional cost of a step onto each pixel, at most 60;
    `scratch` is working memory, `[2, 5 * pixels]`; without a start, it is -1. `firsts` is not 0 at
    the goal; filled in is a bit for each best direction, 0 where no path is known.
    """
    costs = np.empty(firsts.size, dtype=np.int16)
    buckets = np.full(_RING, -1, dtype=np.int32)
    following, waiting = scratch[0], scratch[1]
    count = left = _goals(firsts, costs, following, waiting)
    buckets[0] = count - 1
    cost, last = 0, FAR
    while left and cost <= last:
        while buckets[cost % _RING] >= 0:
            number = buckets[cost % _RING]
            buckets[cost % _RING] = following[number]
            left -= 1
            here = waiting[number]
            if costs[here] != cost:
                continue  # a cheaper entry was processed before
            if here == start:
                last = cost
            if outs[here] and cost:
                continue
            after = cost + _STEP + extra[here]
            for edge in range(heads[here], heads[here + 1]):
                source = sources[edge]
                if after < costs[source]:
                    costs[source], firsts[source] = after, ways[edge]
                    waiting[count], following[count] = source, buckets[after % _RING]
                    buckets[after % _RING] = count
                    count += 1
                    left += 1
                elif after == costs[source]:
                    firsts[source] |= ways[edge]
        cost += 1
    if last < FAR:
        _choose_beyond(last, ends, outs, extra, costs, firsts)
