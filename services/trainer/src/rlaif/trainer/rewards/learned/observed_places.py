"""Where an observation is, and what is owned there: one number, to count by.

Only what lasts is looked at. Health, rupees, keys, open text and enemies come and go, and whatever
comes and goes would make an old place new again.
"""

import numpy as np
import numpy.typing as npt

from rlaif.contracts.observation import LAYOUT, slot_index
from rlaif.trainer.rewards.learned.shaping import Float32

SQUARE_PIXELS = 16
"""Side of a square: one metatile, as in `places`."""

_ROOM = tuple(f"group_bit_{bit}" for bit in range(3)) + tuple(f"room_bit_{bit}" for bit in range(8))
_LASTING = (
    "max_health",
    "boss_key",
    "dungeon_map",
    "compass",
    "sword_level",
    "shield_level",
    "essences",
    "has_rod_of_seasons",
    "has_bracelet",
    "has_feather",
    "has_flippers",
    "has_seed_satchel",
    "story_keys",
    "other_tools",
    "item_taken",
    "room_event",
)
_MIX = 0x9E3779B97F4A7C15
"""2^64 / golden ratio: an odd number whose multiples spread evenly (Knuth, TAOCP 3, 6.4)."""


def places_of(observations: Float32) -> npt.NDArray[np.int64]:
    """`[..., 128] float32` observations to `[...] int64` numbers.

    Equal room, square and lasting possessions give equal numbers; others differ but for a chance
    of about 2^-64.
    """
    columns = [_levels(observations, name, 1.0) for name in _ROOM]
    for name in ("player_x", "player_y"):
        columns.append(_levels(observations, name, 1.0 / SQUARE_PIXELS))
    columns += [_levels(observations, name, 1.0) for name in _LASTING]
    mixed = np.zeros(observations.shape[:-1], dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column) * np.uint64(_MIX)
        mixed ^= mixed >> np.uint64(29)
    return mixed.view(np.int64)


def _levels(observations: Float32, name: str, share: float) -> npt.NDArray[np.uint64]:
    """The raw value of a slot times `share`, as a whole number."""
    index = slot_index(name)
    raw = observations[..., index].astype(np.float64) * LAYOUT[index].scale
    # 1e-3: float32 leaves 15.999999 of a raw 16, which is the next square.
    return np.floor(raw * share + 1e-3).astype(np.uint64)
