"""The maximum size of an object by its type, which is derived from its key.

Stores do not read larger ones, so a writer to a bucket cannot exhaust the memory of readers.
"""

import re

from rlaif.storage.ports import ObjectCorruptError

_KIB, _MIB = 1024, 1024 * 1024

_BOUNDS = [
    (re.compile(pattern), limit)
    for pattern, limit in (
        (r"captures/.*", _MIB),  # one digit for each decision: a million are hours of play
        (r"keyframes/.*", 4 * _MIB),  # as `rlaif.game.captures.capture.LARGEST_STATE_BYTES`
        (r"rooms/.*|.*/frames/[^/]*", 256 * _KIB),  # a screen of 160x144 pixels is a few kB
        (r"reward_model/wanted_comparisons\.json", 256 * _KIB),
        (r"reward_model/epoch_[^/]*/rm\..*", 64 * _MIB),
        (r".*/film\.bin", 32 * _MIB),
        (r".*/observations\.npy", 16 * _MIB),
    )
]
CHECKPOINT_FILE = 2048 * _MIB
"""For a file of a checkpoint, such as the tree of a search. Its reader passes this limit: a
segment's manifest may name any key."""

_RECORD = 4 * _MIB
"""For any other object, such as a manifest, a score, a vote, or the states of a segment."""


def size_limit(key: str) -> int:
    """The maximum size of the object `key`, in bytes."""
    return next((limit for pattern, limit in _BOUNDS if pattern.fullmatch(key)), _RECORD)


def check_size(key: str, size: int, max_bytes: int | None) -> None:
    """Raise ObjectCorruptError if an object of this size is larger than `ObjectStore.get` reads."""
    limit = size_limit(key) if max_bytes is None else max_bytes
    if size > limit:
        raise ObjectCorruptError(f"{key} has {size} bytes, more than {limit}")
