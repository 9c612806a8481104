"""Numbers on command lines: argparse types whose errors name the accepted range."""

import argparse
import math
from collections.abc import Callable


def whole(minimum: int = 0, maximum: int = 2**31 - 1) -> Callable[[str], int]:
    """A type for whole numbers from `minimum` to `maximum`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if minimum <= value <= maximum:
            return value
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from {minimum} to {maximum}")

    return read


def finite(*, above_zero: bool = False, maximum: float = 1e9) -> Callable[[str], float]:
    """A type for numbers from 0, or above 0, to `maximum`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 < value <= maximum or (value == 0 and not above_zero):
            return value
        bound = "above 0" if above_zero else "from 0"
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {bound} to {maximum:,.0f}")

    return read
