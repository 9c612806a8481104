"""Numbers on command lines: types for argparse whose errors say which numbers are accepted."""

import argparse
import math
from collections.abc import Callable


def whole(least: int = 0, most: int = 2**31 - 1) -> Callable[[str], int]:
    """A type for whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if least <= value <= most:
            return value
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")

    return read


def finite(*, above_zero: bool = False) -> Callable[[str], float]:
    """A type for finite numbers from 0, or above it."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and (value > 0 or (value == 0 and not above_zero)):
            return value
        bound = "above 0" if above_zero else "from 0"
        raise argparse.ArgumentTypeError(f"{text!r} is no number {bound}")

    return read
