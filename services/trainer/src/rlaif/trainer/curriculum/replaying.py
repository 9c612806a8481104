"""Plays parts of ways again base step by base step: is each what it says?"""

from collections.abc import Iterator, Sequence

from rlaif.trainer.curriculum.lineages import Part, Stretch
from rlaif.trainer.curriculum.recording import Recorder


class WayMismatchError(Exception):
    """A way leads elsewhere than it says."""


def replay(parts: Sequence[Part], recorder: Recorder) -> None:
    """Play the parts of a way, each from its own beginning; the recorder has them then.

    Raises:
        WayMismatchError: The RAM differs at one of the moments that were kept.
    """
    number = 0
    for part in parts:
        if number:
            recorder.go_on_from(part.state)
        else:
            recorder.begin(part.state)
        check(recorder.digest(), part.digest, number)
        for stretch in part.stretches:
            number += 1
            for decision, digits in pieces(stretch):
                recorder.press(decision, digits)
            check(recorder.digest(), stretch.digest, number)


def pieces(stretch: Stretch) -> Iterator[tuple[int, str]]:
    """The decisions of a stretch, each with its base steps.

    Raises:
        WayMismatchError: They do not add up to what was pressed.
    """
    at = 0
    for decision, steps in stretch.decisions:
        yield decision, stretch.actions[at : at + steps]
        at += steps
    if at != len(stretch.actions):
        raise WayMismatchError(
            f"decisions of {at} base steps for {len(stretch.actions)} that were pressed"
        )


def check(found: str, expected: str, number: int) -> None:
    """A WayMismatchError unless the digest after so many stretches is the expected one."""
    if found != expected:
        raise WayMismatchError(
            f"after {number} stretches the RAM has digest {found[:12]}, the way has "
            f"{expected[:12]}: it was played in another game or emulator"
        )
