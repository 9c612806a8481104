"""Observations that nobody saw, made of those that somebody did: to ask a potential besides.

Labels lie where the policy was. A potential that pays for a corner of a room, for two things at
once, or for a count of coins can be right on every label and wrong wherever the policy goes to
please it. So each number that lasts is moved, alone and together with others, and the player is put
all over the rooms that were seen. What may not move the potential at all need not be asked: its
weights are zero, which `bars.py` sees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.observation import (
    LASTING_SLOTS,
    LAYOUT,
    LAYOUT_VERSION,
    OBSERVATION_SIZE,
    QUEST_SLOTS,
    slot_index,
)
from rlaif.reward_model.learning.lasting import lasting_slots

_BASES = 48
_PAIRS = 256
_CORNERS = 512
_ROOMS = 24
_GRID = (9, 7)
_COUNTS = ("rupees", "bombs", "max_health", "heart_pieces", "keys")
_VALUES = (0, 1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 99)
"""Raw values of a count that are tried."""

_STREAM = 6

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Probes:
    """Counterfactual observations, by what was done to them.

    Attributes:
        rows: Family → `[P, inputs]` float32.
        rooms: Room → `[P, inputs]` float32, the player all over it.
        quest: Slot of an owned thing → `[2, P, inputs]` float32, without it and with it.
    """

    rows: dict[str, Float32]
    rooms: dict[str, Float32]
    quest: dict[str, Float32]


def make_probes(seen: Float32, layout_version: str, *, seed: int) -> Probes:
    """Probes made of `seen`, `[N, inputs]`, observations that nothing was taught with; N > 0."""
    rng = np.random.default_rng([seed, _STREAM])
    known = layout_version == LAYOUT_VERSION and seen.shape[1] == OBSERVATION_SIZE
    slots = lasting_slots(layout_version, seen.shape[1])
    bases = seen[rng.permutation(len(seen))[:_BASES]]
    rows = {
        "one number": _each(bases, slots),
        "two numbers": _pairs(bases, slots, rng),
        "any numbers": _corners(bases, slots, rng),
    }
    if not known:
        return Probes(rows, {}, {})
    counts = np.array([slot_index(name) for name in _COUNTS])
    rows["two flags"] = _two_flags(bases[:8])
    rows["counts"] = _counts(bases[:8], counts)
    rows["owned things"] = _owned(bases, rng)
    return Probes(
        rows, _rooms(seen, rng), {LAYOUT[at].name: _quest(bases, at) for at in QUEST_SLOTS}
    )


def _each(bases: Float32, slots: NDArray[np.int64]) -> Float32:
    """Every slot alone, moved to its other end."""
    return _changed(bases, len(slots), lambda rows, at: _flip(rows, slots[[at]]))


def _pairs(bases: Float32, slots: NDArray[np.int64], rng: np.random.Generator) -> Float32:
    """Two slots together, moved to their other ends."""
    chosen = rng.choice(slots, size=(_PAIRS, 2))
    few = bases[: max(1, len(bases) // 4)]
    return _changed(few, _PAIRS, lambda rows, at: _flip(rows, chosen[at]))


def _two_flags(bases: Float32) -> Float32:
    """Each two flags of things and puzzles, switched on together."""
    flags = [at for at in LASTING_SLOTS if LAYOUT[at].group in ("items", "puzzle") and _flag(at)]
    pairs = list(combinations(flags, 2))

    def change(rows: Float32, at: int) -> None:
        rows[:, pairs[at]] = 1.0

    return _changed(bases, len(pairs), change)


def _flag(slot: int) -> bool:
    return LAYOUT[slot].scale == 1.0


def _corners(bases: Float32, slots: NDArray[np.int64], rng: np.random.Generator) -> Float32:
    """All slots at 0, at 1, and each at either."""
    rows = bases[rng.integers(len(bases), size=_CORNERS)].copy()
    rows[:, slots] = rng.integers(0, 2, size=(_CORNERS, len(slots)))
    rows[0, slots], rows[1, slots] = 0.0, 1.0
    return rows


def _counts(bases: Float32, counts: NDArray[np.int64]) -> Float32:
    """Counts at values that a game shows."""

    def change(rows: Float32, at: int) -> None:
        slot = int(counts[at // len(_VALUES)])
        rows[:, slot] = min(1.0, _VALUES[at % len(_VALUES)] / LAYOUT[slot].scale)

    return _changed(bases, len(counts) * len(_VALUES), change)


def _owned(bases: Float32, rng: np.random.Generator) -> Float32:
    """Any things owned together."""
    rows = bases[rng.integers(len(bases), size=_CORNERS)].copy()
    rows[:, QUEST_SLOTS] = rng.integers(0, 2, size=(_CORNERS, len(QUEST_SLOTS)))
    return rows


def _rooms(seen: Float32, rng: np.random.Generator) -> dict[str, Float32]:
    """The player on a grid over each room that was seen, the most usual ones first."""
    bits = [slot.index for slot in LAYOUT if slot.group == "room" and "bit" in slot.name]
    codes = (seen[:, bits] > 0.5) @ (1 << np.arange(len(bits)))
    found, counts = np.unique(codes, return_counts=True)
    across, down = (np.linspace(0.03, 0.97, count, dtype=np.float32) for count in _GRID)
    grid = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    places = [slot_index("player_x"), slot_index("player_y")]
    rooms = {}
    for code in found[np.argsort(-counts, kind="stable")][:_ROOMS].tolist():
        inside = np.flatnonzero(codes == code)
        chosen = seen[inside[rng.permutation(len(inside))[:2]]]
        rows = np.repeat(chosen, len(grid), axis=0)
        rows[:, places] = np.tile(grid, (len(chosen), 1))
        rooms[f"room {code:#05x}"] = rows
    return rooms


def _quest(bases: Float32, slot: int) -> Float32:
    """`[2, P, inputs]`: without and with one more of what the slot counts."""
    step = np.float32(1.0 / LAYOUT[slot].scale)
    both = np.stack([bases, bases])
    both[0, :, slot] = np.minimum(bases[:, slot], 1.0 - step)
    both[1, :, slot] = both[0, :, slot] + step
    return both


def _changed(bases: Float32, count: int, change: Callable[[Float32, int], None]) -> Float32:
    """The bases `count` times, each time with another change made in place."""
    rows = np.tile(bases, (count, 1))
    for at, block in enumerate(np.split(rows, count)):
        change(block, at)
    return rows


def _flip(rows: Float32, slots: NDArray[np.int64]) -> None:
    rows[:, slots] = (rows[:, slots] < 0.5).astype(np.float32)
