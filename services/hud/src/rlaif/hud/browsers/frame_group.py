"""Several frames in one message, for pages that take them so while many pages look on.

A message of four costs little more than a message of one, and most of what a page costs is its
messages. The frames come up to `WAIT` late for it; the page shows them at the pace at which they
were taken.

A group is four bytes, version 1, kind 2, how many, and 0, then each frame behind its length in
bytes (unsigned, 32 bits, little-endian). A frame alone begins with version 1, kind 1.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Final

CROWD: Final = 20
"""Pages from which on frames go in groups; the picture of a few is worth its messages."""

MOST: Final = 4
"""Frames of a group: 200 ms of the screen at its 20 frames a second."""

WAIT: Final = 0.17
"""Seconds that the first frame of a group waits for others at most."""

_HEADER = struct.Struct("<BBBB")
_LENGTH = struct.Struct("<I")
_VERSION, _KIND = 1, 2


def pack_group(frames: Sequence[bytes]) -> bytes:
    """The message that holds these frames, 1 to 255 of them."""
    parts = [_HEADER.pack(_VERSION, _KIND, len(frames), 0)]
    for frame in frames:
        parts += (_LENGTH.pack(len(frame)), frame)
    return b"".join(parts)


class Grouping:
    """Frames that wait for others, until `flush` is called by itself or by who gives them.

    Args:
        give: Takes the number of the newest frame, the message, and how many frames it holds.
        later: Calls a function after so many seconds.
    """

    def __init__(
        self,
        give: Callable[[int, bytes, int], None],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._give = give
        self._later = later
        self._frames: list[tuple[int, bytes]] = []
        self._round = 0

    @property
    def is_empty(self) -> bool:
        """Whether no frame waits."""
        return not self._frames

    def add(self, sequence: int, packed: bytes) -> None:
        """Add a frame; the last that a group holds sends them."""
        self._frames.append((sequence, packed))
        if len(self._frames) == MOST:
            self.flush()
        elif len(self._frames) == 1:
            of_round = self._round
            self._later(WAIT, lambda: self._end(of_round))

    def flush(self) -> None:
        """Send what waits."""
        self._round += 1
        frames, self._frames = self._frames, []
        if frames:
            message = pack_group([packed for _, packed in frames])
            self._give(frames[-1][0], message, len(frames))

    def _end(self, of_round: int) -> None:
        if of_round == self._round:
            self.flush()
