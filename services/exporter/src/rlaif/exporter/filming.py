"""Encodes a segment's film: per picture only the changed region."""

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.films import Patch, pack_film
from rlaif.game.machine.pictures import webp

Picture = npt.NDArray[np.uint8]
"""`[144, 160, 3]`, RGB."""


class Film:
    """The film of one segment.

    A whole screen takes 3 kB, a change about 0.3 kB: 75 steps of Seedling Vale take about 25 kB.
    """

    def __init__(self, segment_id: str) -> None:
        self._segment_id = segment_id
        self._last: Picture | None = None
        self._patches: list[Patch] = []

    def add(
        self, step: int, frame: int, picture: Picture, camera: tuple[int, int] = (0, 0)
    ) -> None:
        """The screen after a decision step, `frame` game frames into the segment."""
        top, bottom, left, right = _changed(self._last, picture)
        part = picture[top:bottom, left:right]
        data = webp(np.ascontiguousarray(part)) if part.size else b""
        self._patches.append(
            Patch(step, frame, left, top, right - left, bottom - top, data, *camera)
        )
        self._last = picture.copy()

    def packed(self) -> bytes:
        """The film as stored; ValueError before the first picture."""
        return pack_film(self._segment_id, self._patches)


def film_steps(steps: int, most: int) -> frozenset[int]:
    """Decision steps in a film: all, or every n-th and the last, about `most`."""
    if not most:
        return frozenset()
    return frozenset(range(0, steps, -(-steps // most))) | {steps - 1}


def _changed(before: Picture | None, after: Picture) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) of the changed region, top and left even; all 0 for no change.

    Animated WebP, in which films are served, places pictures at even pixels only.
    """
    rows, columns = after.shape[:2]
    if before is None:
        return 0, rows, 0, columns
    differs = (before != after).any(axis=2)
    if not differs.any():
        return 0, 0, 0, 0
    down, across = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    return int(down[0]) & ~1, int(down[-1]) + 1, int(across[0]) & ~1, int(across[-1]) + 1
