"""Replays parts of trajectories step by step and verifies digests."""

from collections.abc import Iterator, Sequence

from rlaif.trainer.curriculum.recording import Recorder
from rlaif.trainer.curriculum.trajectories import Part, Section


class TrajectoryMismatchError(Exception):
    """A replay leads to other RAM than recorded."""


def replay(parts: Sequence[Part], recorder: Recorder) -> None:
    """Replay the parts of a trajectory, each from its own first state, into a recorder.

    Raises:
        TrajectoryMismatchError: The RAM differs from that of a node.
    """
    number = 0
    for part in parts:
        if number:
            recorder.continue_from(part.state)
        else:
            recorder.begin(part.state)
        check(recorder.digest(), part.digest, number)
        for section in part.sections:
            number += 1
            for decision, digits in split(section):
                recorder.press(decision, digits)
            check(recorder.digest(), section.digest, number)


def split(section: Section) -> Iterator[tuple[int, str]]:
    """Yield the decisions of a section with their emulator steps.

    Raises:
        TrajectoryMismatchError: The numbers of steps do not add up.
    """
    at = 0
    for decision, steps in section.decisions:
        yield decision, section.actions[at : at + steps]
        at += steps
    if at != len(section.actions):
        raise TrajectoryMismatchError(
            f"decisions have {at} emulator steps, recorded are {len(section.actions)}"
        )


def check(found: str, expected: str, number: int) -> None:
    """Raise WayMismatchError unless the digest after `number` sections is the expected one."""
    if found != expected:
        raise TrajectoryMismatchError(
            f"after {number} sections the RAM has digest {found[:12]}, expected "
            f"{expected[:12]}: it was recorded in another game or emulator"
        )
